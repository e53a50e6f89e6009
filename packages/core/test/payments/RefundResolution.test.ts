/** Refunds whose outcome is not known: read now, or resolved by a person. What the provider states comes first. */
import {
  BillingRuns,
  FakeProvider,
  Invoices,
  Payments,
  type ProviderCall,
  type ProviderFault,
  Refunds,
  Transactor,
} from "@billwright/core"
import { problemsOfPayments } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { as, globex } from "../world.ts"
import { advanceTo, events, inHours, script, SOON, subscribe, withProvider } from "./collecting.ts"

const DAYS = 24

type Faults = Partial<Record<ProviderCall, ReadonlyArray<ProviderFault | undefined>>>
const faulty = (faults: Faults) => new FakeProvider({ mode: "live", faultOf: script(faults) })

const runDue = Effect.flatMap(BillingRuns, (runs) => runs.runDue())

/** A payment of 20.00 that has succeeded. */
const paid = Effect.gen(function* () {
  yield* subscribe
  yield* advanceTo(SOON)
  return (yield* (yield* Payments).list()).data[0]!
})

/** A refund of all of it, which was just created. */
const created = Effect.gen(function* () {
  const { id: paymentId } = yield* paid
  return yield* (yield* Refunds).create({ paymentId, reason: "duplicate" })
})

/** The refund and its invoice, which agree with each other. */
const look = Effect.fnUntraced(function* (id: string) {
  const refund = yield* (yield* Refunds).get(id)
  const invoice = yield* (yield* Invoices).get(refund.invoiceId)
  const payments = (yield* (yield* Payments).list({ invoiceId: invoice.id })).data
  const refunds = (yield* (yield* Refunds).list({ invoiceId: invoice.id })).data
  assert.deepStrictEqual(problemsOfPayments(invoice, payments, refunds), [])
  return { refund, invoice }
})

const resolve = (id: string, status: "succeeded" | "failed", reference?: string) =>
  Effect.flatMap(Refunds, (refunds) =>
    refunds.resolve(id, { status, ...(reference === undefined ? {} : { reference }) }),
  )
const refresh = (id: string) => Effect.flatMap(Refunds, (refunds) => refunds.refresh(id))

const problemOf = <A, E extends { readonly message: string }, R>(call: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(call), ({ message }) => message)

const countOf = (type: string) => Effect.map(events, (all) => all.filter((one) => one.type === type).length)

/** The provider tells of its last change. */
const tell = Effect.fnUntraced(function* (fake: FakeProvider) {
  const { epochMilliseconds: at } = yield* DateTime.now
  return yield* (yield* Payments).receive(fake.sign(fake.notices.at(-1)!, { at }))
})

describe("a refund that is refreshed", () => {
  it.effect("is what the provider says now, and not asked for before it is sent", () => {
    const fake = faulty({ refund: ["lose_reply"] })
    return Effect.gen(function* () {
      const { id } = yield* created
      assert.deepInclude(yield* refresh(id), { status: "pending", sentAt: null })
      yield* runDue
      assert.deepInclude((yield* look(id)).refund, { status: "unresolved" })
      const known = yield* refresh(id)
      assert.deepInclude(known, { status: "succeeded", reference: "fake_re_1", reversed: 2000n })
      assert.deepInclude((yield* look(id)).invoice, { status: "open", amountPaid: 0n })
      assert.deepStrictEqual(yield* refresh(id), known)
      // Nothing of it is left to do.
      yield* advanceTo(inHours(40 * DAYS))
      assert.strictEqual(yield* countOf("refund.succeeded"), 1)
      fake.settleRefund("fake_re_1", { code: "lost_card" })
      assert.deepInclude(yield* refresh(id), { status: "failed", failureCode: "lost_card" })
      assert.deepInclude((yield* look(id)).invoice, { amountPaid: 2000n })
    }).pipe(withProvider(fake))
  })

  it.effect("stays as it is when the provider does not answer, or knows nothing", () => {
    const fake = faulty({ refund: ["lose_request"], readRefund: ["lose_reply"] })
    return Effect.gen(function* () {
      const { id } = yield* created
      yield* runDue
      assert.strictEqual((yield* Effect.flip(refresh(id)))._tag, "PaymentProviderUnavailable")
      assert.deepInclude(yield* refresh(id), { status: "unresolved" })
      const { atomically } = yield* Transactor
      assert.include(yield* problemOf(atomically(refresh(id))), "can't be called within a transaction")
      assert.strictEqual((yield* as(globex)(Effect.flip(refresh(id))))._tag, "RefundNotFound")
      // It is sent again as planned.
      yield* advanceTo(inHours(2))
      assert.strictEqual((yield* look(id)).refund.status, "succeeded")
    }).pipe(withProvider(fake))
  })
})

describe("a refund that a person resolves", () => {
  it.effect("is canceled before it is sent", () => {
    const fake = faulty({})
    return Effect.gen(function* () {
      const { id, paymentId } = yield* created
      const canceled = yield* resolve(id, "failed")
      assert.deepInclude(canceled, { status: "failed", failureCode: "resolved_by_person", sentAt: null })
      assert.deepStrictEqual(yield* resolve(id, "failed"), canceled)
      assert.include(yield* problemOf(resolve(id, "succeeded")), "the refund has failed")
      yield* advanceTo(inHours(40 * DAYS))
      assert.lengthOf(fake.refunds, 0)
      assert.deepInclude((yield* look(id)).invoice, { status: "paid", amountPaid: 2000n })
      assert.strictEqual(yield* countOf("refund.failed"), 1)
      const again = yield* (yield* Refunds).create({ paymentId, reason: "duplicate" })
      assert.strictEqual(again.amount, 2000n)
    }).pipe(withProvider(fake))
  })

  it.effect("is what the provider says, if it knows it", () => {
    const fake = faulty({ refund: ["lose_reply"] })
    return Effect.gen(function* () {
      const { id } = yield* created
      yield* runDue
      assert.deepInclude(yield* resolve(id, "failed"), { status: "succeeded", reference: "fake_re_1" })
      assert.deepInclude((yield* look(id)).invoice, { amountPaid: 0n })
    }).pipe(withProvider(fake))
  })

  it.effect("is not resolved while the provider works on it, or can't be read", () => {
    const fake = new FakeProvider({
      refundOutcomeOf: () => "pending",
      faultOf: script({ readRefund: ["lose_reply"] }),
    })
    return Effect.gen(function* () {
      const { id } = yield* created
      yield* runDue
      assert.strictEqual((yield* Effect.flip(resolve(id, "failed")))._tag, "PaymentProviderUnavailable")
      assert.include(yield* problemOf(resolve(id, "failed")), "the payment provider is working on it")
      assert.deepInclude((yield* look(id)).refund, { status: "pending", reference: "fake_re_1" })
    }).pipe(withProvider(fake))
  })

  it.effect("has succeeded after all when the request arrives later", () => {
    const fake = faulty({ refund: ["lose_request"] })
    return Effect.gen(function* () {
      const { amount, currency, id, paymentId } = yield* created
      yield* runDue
      assert.deepInclude(yield* resolve(id, "failed"), {
        status: "failed",
        failureCode: "resolved_by_person",
      })
      yield* advanceTo(inHours(3))
      assert.lengthOf(fake.refunds, 0)
      const { reference } = yield* (yield* Payments).get(paymentId)
      yield* fake.refund({ refundId: id, paymentReference: reference!, amount, currency })
      assert.strictEqual((yield* tell(fake)).outcome, "accepted")
      const { invoice, refund } = yield* look(id)
      assert.deepInclude(refund, { status: "succeeded", failureCode: null, reversed: 2000n })
      assert.deepInclude(invoice, { status: "open", amountPaid: 0n })
      assert.strictEqual(yield* countOf("refund.succeeded"), 1)
    }).pipe(withProvider(fake))
  })

  it.effect("was made by hand at the provider, which is told later and counts once", () => {
    const fake = faulty({ refund: ["lose_request"] })
    return Effect.gen(function* () {
      const { id, paymentId } = yield* created
      yield* runDue
      const payment = yield* (yield* Payments).get(paymentId)
      const { reference } = fake.refundByHand(payment.reference!, 2000n)
      const resolved = yield* resolve(id, "succeeded", reference!)
      assert.deepInclude(resolved, { status: "succeeded", reference, reversed: 2000n })
      assert.strictEqual((yield* tell(fake)).outcome, "accepted")
      assert.deepStrictEqual((yield* look(id)).refund, resolved)
      assert.lengthOf((yield* (yield* Refunds).list()).data, 1)
      assert.isTrue(Option.isSome(yield* (yield* BillingRuns).nextDueAt))
      yield* advanceTo(inHours(20 * DAYS))
      assert.lengthOf(fake.refunds, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("that somebody has made at the provider is asked for there, and never sent", () => {
    const fake = new FakeProvider({ mode: "live", refundOutcomeOf: () => "pending" })
    return Effect.gen(function* () {
      const payment = yield* paid
      const byHand = { refundId: "made by hand", paymentReference: payment.reference!, currency: "EUR" }
      yield* fake.refund({ ...byHand, amount: 700n })
      assert.strictEqual((yield* tell(fake)).outcome, "accepted")
      const [refund] = (yield* (yield* Refunds).list()).data
      assert.deepInclude(refund, { status: "pending", reference: "fake_re_1", amount: 700n })
      assert.deepStrictEqual(refund!.sentAt, yield* DateTime.now)
      // It still takes its money: what a person says of it does not count before the provider's word.
      assert.include(yield* problemOf(resolve(refund!.id, "failed")), "the payment provider is working on it")
      const more = (yield* Refunds).create({ paymentId: payment.id, amount: 1_301n, reason: "other" })
      assert.include(yield* problemOf(more), "1300")
      fake.settleRefund("fake_re_1", "succeeded")
      assert.deepInclude(yield* refresh(refund!.id), { status: "succeeded", reversed: 700n })
      yield* advanceTo(inHours(40 * DAYS))
      assert.lengthOf(fake.refunds, 1)
    }).pipe(withProvider(fake))
  })

  it.effect(
    "that somebody has made at the provider is read by itself, though nothing is told any more",
    () => {
      const fake = new FakeProvider({ mode: "live", refundOutcomeOf: () => "pending" })
      return Effect.gen(function* () {
        const payment = yield* paid
        const byHand = { refundId: "made by hand", paymentReference: payment.reference!, currency: "EUR" }
        yield* fake.refund({ ...byHand, amount: 700n })
        yield* tell(fake)
        fake.settleRefund("fake_re_1", { code: "lost_card" })
        yield* advanceTo(inHours(2))
        const [refund] = (yield* (yield* Refunds).list()).data
        assert.deepInclude(refund, { status: "failed", failureCode: "lost_card" })
        yield* advanceTo(inHours(40 * DAYS))
        assert.lengthOf(fake.refunds, 1)
      }).pipe(withProvider(fake))
    },
  )

  it.effect("has fields with rules", () =>
    Effect.gen(function* () {
      const { id } = yield* created
      const { resolve: call } = yield* Refunds
      const status = yield* Effect.flip(call(id, { status: "pending" as never }))
      assert.deepInclude(status, { _tag: "InvalidInput", field: "status" })
      const reference = yield* Effect.flip(call(id, { status: "failed", reference: "" }))
      assert.deepInclude(reference, { _tag: "InvalidInput", field: "reference" })
    }).pipe(withProvider(faulty({}))),
  )
})
