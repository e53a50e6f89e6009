/** Refunds: made in the background, never more than was paid, due again without a credit note. */
import {
  BillingRuns,
  CreditNotes,
  type FakeProvider as Fake,
  FakeProvider,
  Invoices,
  Payments,
  Refunds,
} from "@billwright/core"
import { problemsOfPayments } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inWorld, NOON } from "../world.ts"
import { advanceTo, events, inHours, script, SOON, subscribe, withProvider } from "./collecting.ts"

/** An invoice of 20.00 that the provider has collected, and its payment. */
const paid = Effect.gen(function* () {
  yield* subscribe
  yield* advanceTo(SOON)
  const [invoice] = (yield* (yield* Invoices).list()).data
  const [payment] = (yield* (yield* Payments).list({ invoiceId: invoice!.id })).data
  assert.deepInclude(payment, { status: "succeeded", amount: 2000n })
  return { invoice: invoice!, payment: payment! }
})

/** The invoice and its refunds, which must agree with each other and with what the provider gave back. */
const look = Effect.fnUntraced(function* (fake: Fake | undefined, invoiceId: string) {
  const invoice = yield* (yield* Invoices).get(invoiceId)
  const payments = (yield* (yield* Payments).list({ invoiceId: invoice.id })).data
  const refunds = (yield* (yield* Refunds).list({ invoiceId: invoice.id })).data
  assert.deepStrictEqual(problemsOfPayments(invoice, payments, refunds), [])
  const given = (fake?.refunds ?? []).map(({ amount, refundId, status }) => ({ amount, refundId, status }))
  return { invoice, payments, refunds, given }
})

const typesOf = Effect.map(events, (all) =>
  all.map(({ type }) => type as string).filter((type) => /^refund|reopened|invoice.paid|dispute/.test(type)),
)

const runDue = Effect.flatMap(BillingRuns, (runs) => runs.runDue())

describe("a refund without a credit note", () => {
  it.effect("is sent by the runner, and reopens the invoice, which is not collected by itself", () => {
    const fake = new FakeProvider()
    return Effect.gen(function* () {
      const { invoice, payment } = yield* paid
      const refunds = yield* Refunds
      const created = yield* refunds.create({ paymentId: payment.id, amount: 500n, reason: "unsatisfactory" })
      assert.deepInclude(created, {
        status: "pending",
        amount: 500n,
        reversed: 0n,
        provider: "fake",
        sentAt: null,
        sequence: 1,
      })
      assert.deepStrictEqual(fake.refunds, [])
      assert.deepInclude((yield* look(fake, invoice.id)).invoice, { status: "paid", amountDue: 0n })
      yield* runDue
      const after = yield* look(fake, invoice.id)
      assert.deepStrictEqual(after.given, [{ amount: 500n, refundId: created.id, status: "succeeded" }])
      assert.deepInclude(after.refunds[0], {
        status: "succeeded",
        reversed: 500n,
        reference: fake.refunds[0]!.reference,
        sequence: 2,
      })
      assert.deepInclude(after.invoice, {
        status: "open",
        collection: "stopped",
        amountPaid: 1500n,
        amountDue: 500n,
      })
      assert.deepStrictEqual(yield* typesOf, [
        "invoice.paid",
        "refund.created",
        "invoice.reopened",
        "refund.succeeded",
      ])
      yield* advanceTo(inHours(40 * 24))
      assert.lengthOf(
        fake.payments.filter(({ invoiceId }) => invoiceId === invoice.id),
        1,
      )
      yield* (yield* Payments).record({ invoiceId: invoice.id })
      assert.deepInclude((yield* look(fake, invoice.id)).invoice, { status: "paid", amountPaid: 2000n })
    }).pipe(withProvider(fake))
  })

  it.effect("of an amount that the provider can't represent is refused", () => {
    const fake = new FakeProvider({
      chargeable: ({ amount }) => {
        if (amount % 10n !== 0n) return { status: "not_representable", multipleOf: 10n }
        return amount < 1_000n ? { status: "below_minimum", minimum: 1_000n } : { status: "ok" }
      },
    })
    return Effect.gen(function* () {
      const { payment } = yield* paid
      const { create } = yield* Refunds
      const refused = yield* Effect.flip(create({ paymentId: payment.id, amount: 505n, reason: "other" }))
      assert.deepInclude(refused, { _tag: "InvalidInput", field: "amount" })
      assert.strictEqual(refused.message, "amount can't be given back: fake takes only multiples of 0.10 EUR")
      // There is no minimum for what is given back.
      yield* create({ paymentId: payment.id, amount: 500n, reason: "other" })
    }).pipe(withProvider(fake))
  })

  it.effect("of all that is left, more than that, and of nothing", () => {
    const fake = new FakeProvider()
    return Effect.gen(function* () {
      const { invoice, payment } = yield* paid
      const refunds = yield* Refunds
      const create = (amount?: bigint) =>
        refunds.create({
          paymentId: payment.id,
          reason: "other",
          ...(amount === undefined ? {} : { amount }),
        })
      yield* create(1500n)
      const tooMuch = yield* Effect.flip(create(501n))
      assert.deepInclude(tooMuch, { _tag: "InvalidInput", field: "amount" })
      assert.strictEqual(tooMuch.message, "amount must be from 1 to 500, which is left to refund")
      assert.deepInclude(yield* create(), { amount: 500n })
      const nothing = yield* Effect.flip(create())
      assert.strictEqual(nothing._tag, "ActionUnavailable")
      assert.include(nothing.message, "nothing of it is left to refund")
      yield* runDue
      assert.deepInclude((yield* look(fake, invoice.id)).invoice, { amountPaid: 0n, amountDue: 2000n })
      const unknown = yield* Effect.flip(
        refunds.create({ paymentId: "pay_01kb2r7f6yf8z9p6gx1yb9tpfp" as never, reason: "other" }),
      )
      assert.deepInclude(unknown, { _tag: "PaymentNotFound", field: "paymentId" })
    }).pipe(withProvider(fake))
  })

  it.effect("that are created at once never pass the payment together", () => {
    const fake = new FakeProvider()
    return Effect.gen(function* () {
      const { payment } = yield* paid
      const refunds = yield* Refunds
      const created = yield* Effect.all(
        Array.from({ length: 5 }, () =>
          Effect.option(refunds.create({ paymentId: payment.id, amount: 900n, reason: "duplicate" })),
        ),
        { concurrency: "unbounded" },
      )
      assert.lengthOf(
        created.filter(({ _tag }) => _tag === "Some"),
        2,
      )
    }).pipe(withProvider(fake))
  })

  it.effect("that fails gives back what it held, and one that fails late pays the invoice again", () => {
    const results = ["pending", { code: "expired_card" }, "succeeded"] as const
    let made = 0
    const fake = new FakeProvider({ refundOutcomeOf: () => results[made++]! })
    return Effect.gen(function* () {
      const { invoice, payment } = yield* paid
      const refunds = yield* Refunds
      const first = yield* refunds.create({ paymentId: payment.id, reason: "fraudulent" })
      yield* runDue
      assert.deepInclude(yield* refunds.get(first.id), { status: "pending", reference: "fake_re_1" })
      fake.settleRefund("fake_re_1", { code: "lost_card" })
      yield* advanceTo(inHours(3))
      assert.deepInclude(yield* refunds.get(first.id), { status: "failed", failureCode: "lost_card" })
      const second = yield* refunds.create({ paymentId: payment.id, reason: "fraudulent" })
      yield* runDue
      assert.deepInclude(yield* refunds.get(second.id), { status: "failed", failureCode: "expired_card" })
      const third = yield* refunds.create({ paymentId: payment.id, amount: 700n, reason: "fraudulent" })
      yield* runDue
      assert.deepInclude((yield* look(fake, invoice.id)).invoice, { status: "open", amountDue: 700n })
      assert.strictEqual((yield* refunds.get(third.id)).status, "succeeded")
      assert.deepStrictEqual((yield* typesOf).slice(1), [
        "refund.created",
        "refund.failed",
        "refund.created",
        "refund.failed",
        "refund.created",
        "invoice.reopened",
        "refund.succeeded",
      ])
    }).pipe(withProvider(fake))
  })
})

describe("a refund whose call fails", () => {
  for (const [fault, isMade] of [
    ["lose_request", false],
    ["lose_reply", true],
    ["refuse", false],
  ] as const) {
    it.effect(`is made once, and known in the end: ${fault}`, () => {
      const fake = new FakeProvider({ faultOf: script({ refund: [fault, fault] }) })
      return Effect.gen(function* () {
        const { invoice, payment } = yield* paid
        const { id } = yield* (yield* Refunds).create({ paymentId: payment.id, reason: "duplicate" })
        yield* runDue
        const [refund] = (yield* look(fake, invoice.id)).refunds
        assert.strictEqual(refund?.status, fault === "refuse" ? "pending" : "unresolved")
        assert.lengthOf(fake.refunds, isMade ? 1 : 0)
        yield* advanceTo(inHours(24))
        const after = yield* look(fake, invoice.id)
        assert.deepInclude(after.refunds[0], { id, status: "succeeded", reversed: 2000n })
        assert.deepStrictEqual(after.given, [{ amount: 2000n, refundId: id, status: "succeeded" }])
      }).pipe(withProvider(fake))
    })
  }

  it.effect("may still arrive, so that it is not failed when it is refused the second time", () => {
    const fake = new FakeProvider({ faultOf: script({ refund: ["lose_request", "break"] }) })
    return Effect.gen(function* () {
      const { invoice, payment } = yield* paid
      const refunds = yield* Refunds
      const { id } = yield* refunds.create({ paymentId: payment.id, reason: "duplicate" })
      yield* runDue
      yield* advanceTo(inHours(1.05))
      assert.deepInclude(yield* refunds.get(id), { status: "unresolved", failureCode: null })
      const more = yield* Effect.flip(refunds.create({ paymentId: payment.id, reason: "duplicate" }))
      assert.include(more.message, "nothing of it is left to refund")
      yield* advanceTo(inHours(24))
      assert.deepInclude(yield* refunds.get(id), { status: "succeeded" })
      assert.deepStrictEqual((yield* look(fake, invoice.id)).given, [
        { amount: 2000n, refundId: id, status: "succeeded" },
      ])
    }).pipe(withProvider(fake))
  })

  it.effect("for good is failed, and another one may be made", () => {
    const fake = new FakeProvider({ faultOf: script({ refund: ["break"] }) })
    return Effect.gen(function* () {
      const { invoice, payment } = yield* paid
      const refunds = yield* Refunds
      const { id } = yield* refunds.create({ paymentId: payment.id, reason: "duplicate" })
      yield* runDue
      assert.deepInclude(yield* refunds.get(id), { status: "failed", failureCode: "refused_by_provider" })
      yield* refunds.create({ paymentId: payment.id, reason: "duplicate" })
      yield* runDue
      assert.deepInclude((yield* look(fake, invoice.id)).invoice, { amountPaid: 0n })
    }).pipe(withProvider(fake))
  })
})

describe("a refund of a recorded payment", () => {
  it.effect(
    "has succeeded: a person has given the money back; overpaid money does not touch the invoice",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOON.epochMilliseconds)
        yield* subscribe
        yield* advanceTo(SOON)
        const [open] = (yield* (yield* Invoices).list()).data
        const payment = yield* (yield* Payments).record({
          invoiceId: open!.id,
          amount: 2300n,
          acceptOverpayment: true,
        })
        const refunds = yield* Refunds
        const first = yield* refunds.create({ paymentId: payment.id, amount: 100n, reason: "other" })
        assert.deepInclude(first, { status: "succeeded", reversed: 0n, provider: "manual" })
        assert.deepInclude((yield* look(undefined, open!.id)).invoice, { status: "paid", amountPaid: 2000n })
        const second = yield* refunds.create({ paymentId: payment.id, amount: 500n, reason: "other" })
        assert.deepInclude(second, { status: "succeeded", reversed: 300n })
        assert.deepInclude((yield* look(undefined, open!.id)).invoice, {
          status: "open",
          amountPaid: 1700n,
          amountDue: 300n,
        })
      }).pipe(inWorld()),
  )
})

describe("a refund with a credit note", () => {
  it.effect("is created with the note, and leaves the invoice paid", () => {
    let made = 0
    const fake = new FakeProvider({
      refundOutcomeOf: () => (made++ === 0 ? { code: "lost_card" } : "succeeded"),
    })
    return Effect.gen(function* () {
      const { invoice, payment } = yield* paid
      const refunds = yield* Refunds
      const notes = yield* CreditNotes
      const note = yield* notes.create({
        invoiceId: invoice.id,
        amount: 800n,
        refund: 600n,
        reason: "order_change",
      })
      const [first] = (yield* look(fake, invoice.id)).refunds
      assert.deepInclude(first, {
        status: "pending",
        amount: 600n,
        creditNoteId: note.id,
        reason: "order_change",
      })
      yield* runDue
      assert.deepInclude(yield* refunds.get(first!.id), { status: "failed", failureCode: "lost_card" })
      // The note still says that it is refunded: by another refund.
      const about = { paymentId: payment.id, reason: "order_change", creditNoteId: note.id } as const
      assert.strictEqual(
        (yield* Effect.flip(refunds.create({ ...about, amount: 601n })))._tag,
        "InvalidInput",
      )
      yield* refunds.create({ ...about, amount: 400n })
      yield* runDue
      const after = yield* look(fake, invoice.id)
      assert.deepInclude(after.refunds[0], { status: "succeeded", reversed: 0n })
      assert.deepInclude(after.invoice, { status: "paid", amountPaid: 2000n, amountDue: 0n })
      assert.deepInclude(yield* refunds.create(about), { amount: 200n })
      assert.strictEqual((yield* Effect.flip(refunds.create(about)))._tag, "ActionUnavailable")
      // What the note refunds is not due again.
      yield* refunds.create({ paymentId: payment.id, reason: "other" })
      yield* runDue
      assert.deepInclude((yield* look(fake, invoice.id)).invoice, { amountPaid: 600n, amountDue: 1400n })
    }).pipe(withProvider(fake))
  })

  it.effect("never refunds more than the note, however many refunds there are", () => {
    const fake = new FakeProvider()
    return Effect.gen(function* () {
      const { invoice, payment } = yield* paid
      const refunds = yield* Refunds
      const asked = { invoiceId: invoice.id, amount: 500n, refund: 500n, reason: "other" } as const
      const { id: creditNoteId } = yield* (yield* CreditNotes).create(asked)
      const create = (amount: bigint) => refunds.create({ paymentId: payment.id, amount, reason: "other" })
      yield* Effect.replicateEffect(create(10n), 99)
      for (let run = 0; run < 5; run++) yield* runDue
      const other = yield* (yield* Payments).record({ invoiceId: invoice.id })
      yield* refunds.create({ paymentId: other.id, amount: 1n, reason: "other" })
      const again = { paymentId: other.id, reason: "other", creditNoteId } as const
      const refused = yield* Effect.flip(refunds.create(again))
      assert.include(refused.message, "nothing of it is left to refund")
    }).pipe(withProvider(fake))
  })

  it.effect("takes the newest payments first, and nothing is stored when they don't have so much", () => {
    const fake = new FakeProvider()
    return Effect.gen(function* () {
      yield* subscribe
      const customer = yield* subscribe
      yield* advanceTo(SOON)
      const invoices = (yield* (yield* Invoices).list()).data
      const invoice = invoices.find(({ customerId }) => customerId === customer.id)!
      const payments = yield* Payments
      const [byCard] = (yield* payments.list({ invoiceId: invoice.id })).data
      yield* (yield* Refunds).create({ paymentId: byCard!.id, amount: 500n, reason: "other" })
      yield* runDue
      const byHand = yield* payments.record({ invoiceId: invoice.id })
      const notes = yield* CreditNotes
      yield* notes.create({ invoiceId: invoice.id, amount: 900n, refund: 900n, reason: "duplicate" })
      const { invoice: after, refunds } = yield* look(fake, invoice.id)
      assert.deepStrictEqual(
        refunds.slice(0, 2).map(({ amount, paymentId, status }) => [paymentId, amount, status]),
        [
          [byCard!.id, 400n, "pending"],
          [byHand.id, 500n, "succeeded"],
        ],
      )
      assert.deepInclude(after, { status: "paid", amountPaid: 2000n })
      // All that is left is held by a refund without a note.
      yield* (yield* Refunds).create({ paymentId: byCard!.id, reason: "other" })
      const refused = yield* Effect.flip(
        notes.create({ invoiceId: invoice.id, amount: 100n, refund: 100n, reason: "duplicate" }),
      )
      assert.include(refused.message, "only 0 of its payments can be refunded now")
      assert.lengthOf((yield* notes.list({ invoiceId: invoice.id })).data, 1)
    }).pipe(withProvider(fake))
  })
})
