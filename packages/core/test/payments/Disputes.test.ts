/** Disputes, and refunds of which the provider tells: read again, booked once, never charged again by themselves. */
import {
  BillingRuns,
  Disputes,
  FakeProvider,
  Invoices,
  PaymentMethods,
  Payments,
  Refunds,
} from "@billwright/core"
import { problemsOfPayments } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber } from "effect"
import { as, globex } from "../world.ts"
import {
  advanceTo,
  declined,
  events,
  inHours,
  outcomes,
  save,
  script,
  SOON,
  subscribe,
  withProvider,
} from "./collecting.ts"

/** An invoice of 20.00 that the provider has collected, and its payment. */
const paid = Effect.gen(function* () {
  yield* subscribe
  yield* advanceTo(SOON)
  const [payment] = (yield* (yield* Payments).list()).data
  assert.deepInclude(payment, { status: "succeeded", amount: 2000n })
  return { payment: payment!, reference: payment!.reference! }
})

/** The first invoice and what went back of it, which must agree with each other. */
const look = Effect.gen(function* () {
  const invoice = (yield* (yield* Invoices).list({ limit: 100 })).data.at(-1)!
  const payments = (yield* (yield* Payments).list({ invoiceId: invoice.id })).data
  const refunds = (yield* (yield* Refunds).list({ invoiceId: invoice.id })).data
  const disputes = (yield* (yield* Disputes).list({ invoiceId: invoice.id })).data
  assert.deepStrictEqual(problemsOfPayments(invoice, payments, [...refunds, ...disputes]), [])
  return { invoice, payments, refunds, disputes }
})

/** Sends the last notice of the provider, or another one. */
const tell = Effect.fnUntraced(function* (fake: FakeProvider, notice: object = fake.notices.at(-1)!) {
  const { epochMilliseconds: at } = yield* DateTime.now
  const { httpStatus, outcome } = yield* (yield* Payments).receive(fake.sign(notice, { at }))
  return `${outcome} ${httpStatus}`
})

const typesOf = Effect.map(events, (all) =>
  all.map(({ type }) => type as string).filter((type) => /^refund|reopened|dispute/.test(type)),
)
const runDue = Effect.flatMap(BillingRuns, (runs) => runs.runDue())
const live = () => new FakeProvider({ mode: "live" })

describe("a payment that is under way", () => {
  it.effect("keeps its invoice from being voided, also when other money of it goes back", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes({ status: "processing" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { id, collection } = (yield* look).invoice
      assert.strictEqual(collection, "processing")
      const other = yield* (yield* Payments).record({ invoiceId: id, amount: 1500n })
      yield* (yield* Refunds).create({ paymentId: other.id, reason: "other" })
      const { invoice } = yield* look
      assert.deepInclude(invoice, { status: "open", amountPaid: 0n, collection: "processing" })
      assert.notInclude(invoice.availableActions, "void")
      assert.strictEqual((yield* Effect.flip((yield* Invoices).void(id)))._tag, "ActionUnavailable")
      fake.settle(fake.payments[0]!.reference, "succeeded")
      yield* advanceTo(inHours(48))
      assert.deepInclude((yield* look).invoice, { status: "paid", amountPaid: 2000n })
    }).pipe(withProvider(fake))
  })

  it.effect("is not sent again by itself, nor with another method, while another one is disputed", () => {
    const fake = new FakeProvider({
      mode: "live",
      hasMethods: true,
      faultOf: script({ attemptPayment: [undefined, "lose_request"] }),
      outcomeOf: outcomes({ status: "succeeded" }),
    })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      yield* save(fake, customer.id)
      yield* advanceTo(SOON)
      const [payment] = (yield* look).payments
      assert.deepInclude(payment, { status: "succeeded" })
      yield* (yield* Refunds).create({ paymentId: payment!.id, reason: "other", amount: 500n })
      yield* runDue
      yield* Effect.exit((yield* Payments).pay((yield* look).invoice.id))
      assert.strictEqual((yield* look).invoice.collection, "unresolved")
      fake.dispute(payment!.reference!, 1500n)
      yield* tell(fake)
      yield* advanceTo(inHours(24))
      assert.strictEqual((yield* look).invoice.collection, "stopped")
      const better = yield* save(fake, customer.id)
      yield* (yield* PaymentMethods).update(better.id, { isDefault: true })
      yield* advanceTo(inHours(48))
      assert.strictEqual((yield* look).invoice.collection, "stopped")
      assert.lengthOf(
        fake.payments.filter(({ charges }) => charges > 0),
        1,
      )
    }).pipe(withProvider(fake))
  })
})

describe("a new default method", () => {
  it.effect("is not attempted for an invoice of which another payment is disputed", () => {
    const fake = new FakeProvider({
      mode: "live",
      hasMethods: true,
      outcomeOf: outcomes({ status: "succeeded" }, { status: "processing" }),
    })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      yield* save(fake, customer.id)
      yield* advanceTo(SOON)
      const [payment] = (yield* look).payments
      yield* (yield* Refunds).create({ paymentId: payment!.id, reason: "other", amount: 500n })
      yield* runDue
      yield* (yield* Payments).pay((yield* look).invoice.id)
      fake.dispute(payment!.reference!, 1500n)
      yield* tell(fake)
      fake.settle(fake.payments[1]!.reference, { code: "expired_card" })
      yield* advanceTo(inHours(48))
      assert.strictEqual((yield* look).invoice.collection, "awaiting_method")
      const better = yield* save(fake, customer.id)
      yield* (yield* PaymentMethods).update(better.id, { isDefault: true })
      yield* advanceTo(inHours(72))
      assert.strictEqual((yield* look).invoice.collection, "awaiting_method")
      assert.lengthOf(fake.payments[1]!.attempts, 1)
    }).pipe(withProvider(fake))
  })
})

describe("a dispute", () => {
  it.effect("that is lost reopens the invoice, which is never charged by itself", () => {
    const fake = live()
    return Effect.gen(function* () {
      const { payment, reference } = yield* paid
      const dispute = fake.dispute(reference, 2000n)
      assert.strictEqual(yield* tell(fake), "accepted 200")
      assert.strictEqual(yield* tell(fake), "accepted 200")
      const open = yield* look
      assert.lengthOf(open.disputes, 1)
      assert.deepInclude(open.disputes[0], {
        status: "open",
        amount: 2000n,
        reversed: 0n,
        reference: dispute,
      })
      assert.deepInclude(open.invoice, { status: "paid", amountPaid: 2000n })
      const refused = yield* Effect.flip((yield* Refunds).create({ paymentId: payment.id, reason: "other" }))
      assert.include(refused.message, "nothing of it is left to refund")
      fake.closeDispute(dispute, "lost")
      yield* tell(fake)
      const lost = yield* look
      assert.deepInclude(lost.disputes[0], { status: "lost", reversed: 2000n, sequence: 2 })
      assert.deepInclude(lost.invoice, {
        status: "open",
        collection: "stopped",
        amountPaid: 0n,
        amountDue: 2000n,
      })
      assert.deepStrictEqual(yield* typesOf, ["dispute.opened", "invoice.reopened", "dispute.closed"])
      yield* advanceTo(inHours(20 * 24))
      assert.lengthOf((yield* look).payments, 1)
      assert.deepStrictEqual(yield* (yield* Disputes).get(lost.disputes[0]!.id), lost.disputes[0])
      const hidden = yield* as(globex)(Effect.flip((yield* Disputes).get(lost.disputes[0]!.id)))
      assert.strictEqual(hidden._tag, "DisputeNotFound")
    }).pipe(withProvider(fake))
  })

  it.effect("that is won leaves the money, which can be refunded again", () => {
    const fake = live()
    return Effect.gen(function* () {
      const { payment, reference } = yield* paid
      const dispute = fake.dispute(reference, 1500n)
      yield* tell(fake)
      fake.closeDispute(dispute, "won")
      yield* tell(fake)
      assert.deepInclude((yield* look).disputes[0], { status: "won", reversed: 0n })
      assert.deepInclude((yield* look).invoice, { status: "paid", amountPaid: 2000n })
      const refund = yield* (yield* Refunds).create({ paymentId: payment.id, reason: "other" })
      assert.strictEqual(refund.amount, 2000n)
      // A bank may think again.
      fake.closeDispute(dispute, "lost")
      yield* tell(fake)
      yield* runDue
      const { disputes, invoice, refunds } = yield* look
      assert.deepInclude(disputes[0], { status: "lost", reversed: 1500n })
      assert.deepInclude(refunds[0], { status: "failed", failureCode: "payment_disputed" })
      assert.deepInclude(invoice, { amountPaid: 500n })
      fake.closeDispute(dispute, "won")
      yield* tell(fake)
      assert.deepInclude((yield* look).invoice, { status: "paid", amountPaid: 2000n })
    }).pipe(withProvider(fake))
  })

  it.effect("after a refund takes nothing of the books that the refund has taken", () => {
    const fake = live()
    return Effect.gen(function* () {
      const { payment, reference } = yield* paid
      yield* (yield* Refunds).create({ paymentId: payment.id, amount: 1200n, reason: "other" })
      yield* runDue
      const dispute = fake.dispute(reference, 2000n)
      fake.closeDispute(dispute, "lost")
      yield* tell(fake)
      const { disputes, invoice } = yield* look
      assert.deepInclude(disputes[0], { status: "lost", amount: 2000n, reversed: 800n })
      assert.deepInclude(invoice, { amountPaid: 0n, amountDue: 2000n })
    }).pipe(withProvider(fake))
  })

  it.effect("stops the collection of what is due of its invoice; won, it goes on", () => {
    const fake = new FakeProvider({
      mode: "live",
      outcomeOf: outcomes({ status: "succeeded" }, declined("insufficient_funds")),
    })
    return Effect.gen(function* () {
      const { payment, reference } = yield* paid
      yield* (yield* Refunds).create({ paymentId: payment.id, amount: 500n, reason: "other" })
      yield* runDue
      const { invoice } = yield* look
      yield* (yield* Payments).pay(invoice.id)
      assert.strictEqual((yield* look).invoice.collection, "retrying")
      const dispute = fake.dispute(reference, 100n)
      yield* tell(fake)
      assert.strictEqual((yield* look).invoice.collection, "stopped")
      yield* advanceTo(inHours(20 * 24))
      assert.deepInclude((yield* look).invoice, { status: "open", collection: "stopped", amountDue: 500n })
      fake.closeDispute(dispute, "won")
      yield* tell(fake)
      yield* runDue
      assert.deepInclude((yield* look).invoice, { status: "paid", collection: "paid", amountPaid: 2000n })
      assert.deepStrictEqual(
        fake.payments.map(({ amount, charges }) => [amount, charges]),
        [
          [2000n, 1],
          [500n, 1],
        ],
      )
    }).pipe(withProvider(fake))
  })
})

describe("a dispute that is decided more than once", () => {
  /** A payment of 20.00 of which 10.00 were lost, then paid by other means, and then won: they are the customer's credit. */
  const wonLate = Effect.fnUntraced(function* (fake: FakeProvider) {
    const { payment, reference } = yield* paid
    const dispute = fake.dispute(reference, 1000n)
    yield* tell(fake)
    fake.closeDispute(dispute, "lost")
    yield* tell(fake)
    yield* (yield* Payments).record({ invoiceId: payment.invoiceId })
    fake.closeDispute(dispute, "won")
    yield* tell(fake)
    const { disputes, invoice } = yield* look
    assert.deepInclude(disputes[0], { status: "won", reversed: 1000n })
    assert.deepInclude(invoice, { status: "paid", amountPaid: 2000n })
    return { payment, dispute }
  })

  it.effect("takes the customer's credit when it is lost again", () => {
    const fake = live()
    return Effect.gen(function* () {
      const { dispute } = yield* wonLate(fake)
      fake.closeDispute(dispute, "lost")
      yield* tell(fake)
      const { disputes, invoice } = yield* look
      assert.deepInclude(disputes[0], { status: "lost", reversed: 1000n })
      assert.deepInclude(invoice, { status: "paid", amountPaid: 2000n })
    }).pipe(withProvider(fake))
  })

  it.effect("won, leaves credit that is refunded first; lost again, takes the rest of the invoice", () => {
    const fake = live()
    return Effect.gen(function* () {
      const { dispute, payment } = yield* wonLate(fake)
      const refund = { paymentId: payment.id, amount: 1000n, reason: "other" } as const
      yield* (yield* Refunds).create(refund)
      yield* runDue
      const refunded = yield* look
      assert.deepInclude(refunded.refunds[0], { status: "succeeded", reversed: 0n })
      assert.deepInclude(refunded.invoice, { status: "paid", amountPaid: 2000n })
      fake.closeDispute(dispute, "lost")
      yield* tell(fake)
      const lost = yield* look
      assert.deepInclude(lost.disputes[0], { status: "lost", reversed: 1000n })
      assert.deepInclude(lost.refunds[0], { status: "succeeded", reversed: 1000n, sequence: 3 })
      assert.deepInclude(lost.invoice, { status: "open", amountPaid: 1000n, amountDue: 1000n })
    }).pipe(withProvider(fake))
  })

  it.effect("does not pay the invoice with a refund that comes back of money that it has taken too", () => {
    const fake = live()
    return Effect.gen(function* () {
      const { payment, reference } = yield* paid
      yield* (yield* Refunds).create({ paymentId: payment.id, amount: 1200n, reason: "other" })
      yield* runDue
      fake.closeDispute(fake.dispute(reference, 2000n), "lost")
      yield* tell(fake)
      fake.settleRefund(fake.refunds[0]!.reference!, { code: "lost_card" })
      yield* tell(fake)
      const { invoice, refunds } = yield* look
      assert.deepInclude(refunds[0], { status: "failed", reversed: 1200n })
      assert.deepInclude(invoice, { status: "open", amountPaid: 0n, amountDue: 2000n })
    }).pipe(withProvider(fake))
  })

  it.effect("keeps what was read last, also when an older reading comes later", () => {
    const [begun, held] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
    let readings = 0
    class Slow extends FakeProvider {
      // The second reading of the first notice is the one that counts. Its answer comes late.
      override readDispute(reference: string) {
        return Effect.tap(super.readDispute(reference), () =>
          ++readings === 2
            ? Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(held))
            : Effect.void,
        )
      }
    }
    const fake = new Slow({ mode: "live" })
    return Effect.gen(function* () {
      const { reference } = yield* paid
      const dispute = fake.dispute(reference, 2000n)
      const first = fake.notices.at(-1)!
      const late = yield* Effect.forkChild(tell(fake, first))
      yield* Deferred.await(begun)
      fake.closeDispute(dispute, "lost")
      assert.strictEqual(yield* tell(fake), "accepted 200")
      yield* Deferred.succeed(held, undefined)
      assert.strictEqual(yield* Fiber.join(late), "postponed 503")
      assert.strictEqual(yield* tell(fake, first), "accepted 200")
      assert.deepInclude((yield* look).disputes[0], { status: "lost", reversed: 2000n })
    }).pipe(withProvider(fake))
  })
})

describe("a refund of which the provider tells", () => {
  it.effect("that comes back later pays the invoice again, and what is not due any more is credit", () => {
    const fake = live()
    return Effect.gen(function* () {
      const { payment } = yield* paid
      const refunds = yield* Refunds
      const { id } = yield* refunds.create({ paymentId: payment.id, amount: 900n, reason: "other" })
      yield* runDue
      const { invoice } = yield* look
      yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 600n })
      fake.settleRefund(fake.refunds[0]!.reference!, { code: "lost_card" })
      assert.strictEqual(yield* tell(fake), "accepted 200")
      const after = yield* look
      assert.deepInclude(after.refunds[0], {
        id,
        status: "failed",
        failureCode: "lost_card",
        reversed: 600n,
      })
      assert.deepInclude(after.invoice, { status: "paid", amountPaid: 2000n, amountDue: 0n })
      // What came back and was not due is refunded without touching the invoice.
      const again = yield* refunds.create({ paymentId: payment.id, amount: 600n, reason: "other" })
      yield* runDue
      assert.deepInclude(yield* refunds.get(again.id), { status: "succeeded", reversed: 0n })
      assert.deepInclude((yield* look).invoice, { status: "paid", amountPaid: 2000n })
      assert.deepStrictEqual(yield* typesOf, [
        "refund.created",
        "invoice.reopened",
        "refund.succeeded",
        "refund.failed",
        "refund.created",
        "refund.succeeded",
      ])
    }).pipe(withProvider(fake))
  })

  it.effect("that somebody has made at the provider becomes a refund here, once", () => {
    const fake = live()
    return Effect.gen(function* () {
      const { payment, reference } = yield* paid
      fake.refundByHand(reference, 700n)
      assert.strictEqual(yield* tell(fake), "accepted 200")
      assert.strictEqual(yield* tell(fake, { ...fake.notices.at(-1)!, eventId: "evt_again" }), "accepted 200")
      const { invoice, refunds } = yield* look
      assert.lengthOf(refunds, 1)
      assert.deepInclude(refunds[0], { status: "succeeded", amount: 700n, reversed: 700n, provider: "fake" })
      assert.deepInclude(invoice, { status: "open", collection: "stopped", amountPaid: 1300n })
      assert.strictEqual(
        (yield* (yield* Refunds).create({ paymentId: payment.id, reason: "other" })).amount,
        1300n,
      )
    }).pipe(withProvider(fake))
  })
})
