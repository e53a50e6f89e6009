/**
 * Payments that are not wanted any more as they are: they are closed at the provider, wherever they wait.
 */
import {
  CreditNotes,
  type FakeOutcome,
  FakeProvider,
  type Invoice,
  Invoices,
  Payments,
  type Tenant,
} from "@billwright/core"
import { CLOSE_DELAYS, type CollectionState } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  advanceTo,
  declined,
  events,
  inHours,
  look,
  outcomes,
  script,
  SOON,
  subscribe,
  typesOf,
  withProvider,
} from "./collecting.ts"

const LATER = inHours(2)

type Act = (
  id: Invoice.InvoiceId,
) => Effect.Effect<unknown, unknown, Payments | Invoices | CreditNotes | Tenant.CurrentTenant>

const pay = (invoiceId: Invoice.InvoiceId) => Effect.flatMap(Payments, ({ record }) => record({ invoiceId }))
const acts: ReadonlyArray<readonly [string, Act]> = [
  ["paid by other means", pay],
  ["void", (id) => Effect.flatMap(Invoices, (invoices) => invoices.void(id))],
  ["written off", (id) => Effect.flatMap(Invoices, (invoices) => invoices.markUncollectible(id))],
  [
    "credited",
    (id) =>
      Effect.flatMap(CreditNotes, ({ create }) => create({ invoiceId: id, amount: 2_000n, reason: "other" })),
  ],
]

const waits: ReadonlyArray<readonly [string, FakeOutcome]> = [
  ["retrying", declined("insufficient_funds")],
  ["awaiting_customer", { status: "requires_action" }],
  ["awaiting_method", declined("no_method")],
  ["exhausted", declined("stop_payment_order")],
]

describe("a payment that is not wanted any more", () => {
  for (const [state, outcome] of waits) {
    // While the customer may confirm it, an invoice can't be voided.
    const possible = acts.filter(([act]) => state !== "awaiting_customer" || act !== "void")
    it.effect.each(possible)(`while it is ${state}, is closed at once when the invoice is %s`, ([, act]) => {
      const provider = new FakeProvider({ outcomeOf: () => outcome })
      return Effect.gen(function* () {
        yield* subscribe
        yield* advanceTo(SOON)
        const { invoice } = yield* look(provider)
        assert.strictEqual(invoice.collection, state)
        yield* act(invoice.id)
        yield* advanceTo(LATER)
        assert.isTrue(provider.payments[0]?.isClosed)
        const { payments } = yield* look(provider)
        const fake = payments.find((one) => one.provider === "fake")
        assert.strictEqual(fake?.status, "closed")
        provider.settle(provider.payments[0]!.reference, "succeeded")
        yield* advanceTo(inHours(24 * 8))
        assert.deepStrictEqual((yield* look(provider)).taken, [])
      }).pipe(withProvider(provider))
    })
  }

  it.effect("is closed when it needs attention and surely took nothing", () => {
    const provider = new FakeProvider({ faultOf: script({ attemptPayment: ["break"] }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(provider)
      assert.strictEqual(invoice.collection, "needs_attention")
      yield* pay(invoice.id)
      yield* advanceTo(LATER)
      assert.isTrue(provider.payments[0]?.isClosed)
    }).pipe(withProvider(provider))
  })

  it.effect("is replaced by one of what is left, before the customer confirms the old one", () => {
    const provider = new FakeProvider({ outcomeOf: outcomes({ status: "requires_action" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(provider)
      yield* (yield* CreditNotes).create({ invoiceId: invoice.id, amount: 1_500n, reason: "other" })
      yield* advanceTo(LATER)
      provider.settle(provider.payments[0]!.reference, "succeeded")
      yield* advanceTo(inHours(24 * 5))
      const { booked, payments, taken } = yield* look(provider)
      assert.deepStrictEqual(
        taken.map(([, amount]) => amount),
        [500n],
      )
      assert.deepStrictEqual(booked, taken)
      assert.isTrue(payments.every(({ overpaid }) => overpaid === 0n))
    }).pipe(withProvider(provider))
  })

  const rests: ReadonlyArray<readonly [CollectionState, string]> = [
    ["retrying", "insufficient_funds"],
    ["awaiting_method", "expired_card"],
    ["exhausted", "stop_payment_order"],
  ]
  it.effect.each(rests)(
    "is replaced by one that is %s as it was, and is not attempted for that",
    ([state, code]) => {
      const attempts: Array<string> = []
      const provider = new FakeProvider({
        outcomeOf: ({ reference }) => {
          attempts.push(reference)
          return declined(code)
        },
      })
      return Effect.gen(function* () {
        yield* subscribe
        yield* advanceTo(SOON)
        const { invoice } = yield* look(provider)
        yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
        yield* advanceTo(LATER)
        const { invoice: rest, payments } = yield* look(provider)
        assert.deepInclude(rest, { status: "open", collection: state, amountDue: 1_500n })
        assert.deepStrictEqual(
          payments.filter(({ status }) => status === "open").map(({ amount }) => amount),
          [1_500n],
        )
        assert.isTrue(provider.payments[0]?.isClosed)
        assert.lengthOf(attempts, 1)
        // Its retries are those of the first one: at 09:00, 1, 3, 5 and 7 days after its decline.
        yield* advanceTo(inHours(24 * 12))
        assert.lengthOf(attempts, state === "retrying" ? 5 : 1)
        const ends = (yield* typesOf).filter((type) => type === "invoice.collection_exhausted")
        assert.lengthOf(ends, state === "awaiting_method" ? 0 : 1)
        if (state === "retrying") return
        // Somebody who asks has it attempted.
        yield* (yield* Payments).pay(invoice.id)
        assert.lengthOf(attempts, 2)
      }).pipe(withProvider(provider))
    },
  )

  it.effect(
    "is replaced by one that is tried again when it would have been, however long closing it takes",
    () => {
      const notBefore = inHours(24 * 2).epochMilliseconds
      const provider = new FakeProvider({
        outcomeOf: outcomes({ status: "declined", code: "insufficient_funds", advice: null, notBefore }),
        faultOf: script({ closePayment: ["break"] }),
      })
      return Effect.gen(function* () {
        yield* subscribe
        yield* advanceTo(SOON)
        const { invoice } = yield* look(provider)
        yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
        yield* advanceTo(inHours(47))
        assert.strictEqual((yield* look(provider)).invoice.collection, "retrying")
        assert.lengthOf(
          provider.payments.flatMap(({ attempts }) => attempts),
          1,
        )
        yield* advanceTo(inHours(49))
        assert.strictEqual((yield* look(provider)).invoice.status, "paid")
      }).pipe(withProvider(provider))
    },
  )

  it.effect(
    "is replaced by one that needs attention when it is to be tried again and can't be opened",
    () => {
      const notBefore = inHours(24 * 2).epochMilliseconds
      const provider = new FakeProvider({
        outcomeOf: outcomes({ status: "declined", code: "insufficient_funds", advice: null, notBefore }),
        faultOf: script({ openPayment: [undefined, "break"] }),
      })
      return Effect.gen(function* () {
        yield* subscribe
        yield* advanceTo(SOON)
        const { invoice } = yield* look(provider)
        yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
        yield* advanceTo(inHours(47))
        assert.strictEqual((yield* look(provider)).invoice.collection, "retrying")
        yield* advanceTo(inHours(60))
        assert.strictEqual((yield* look(provider)).invoice.collection, "needs_attention")
      }).pipe(withProvider(provider))
    },
  )

  it.effect("is read while a bank works on it, and then closed without a word of its collection", () => {
    const provider = new FakeProvider({ outcomeOf: outcomes({ status: "processing" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(provider)
      yield* pay(invoice.id)
      yield* advanceTo(LATER)
      assert.isFalse(provider.payments[0]?.isClosed)
      provider.settle(provider.payments[0]!.reference, { code: "stop_payment_order" })
      yield* advanceTo(inHours(24 * 3))
      assert.isTrue(provider.payments[0]?.isClosed)
      assert.deepStrictEqual(yield* typesOf, [
        "payment.processing",
        "payment.succeeded",
        "invoice.paid",
        "payment.failed",
      ])
    }).pipe(withProvider(provider))
  })

  it.effect("is not said to be tried again when its last attempt is declined", () => {
    const provider = new FakeProvider({ outcomeOf: outcomes({ status: "processing" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(provider)
      yield* pay(invoice.id)
      provider.settle(provider.payments[0]!.reference, { code: "insufficient_funds" })
      yield* advanceTo(inHours(24 * 3))
      const failed = (yield* events).find(({ type }) => type === "payment.failed")
      assert.deepInclude(failed?.data, { will_retry: false, next_attempt_at: null })
      assert.isTrue(provider.payments[0]?.isClosed)
    }).pipe(withProvider(provider))
  })

  it.effect("is replaced also when the provider tells of the close before it answers", () => {
    const provider = new FakeProvider({
      outcomeOf: () => ({ status: "requires_action" }),
      faultOf: script({ closePayment: ["lose_reply"] }),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(provider)
      yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
      yield* advanceTo(inHours(1.5))
      assert.isTrue(provider.payments[0]?.isClosed)
      yield* (yield* Payments).refresh(invoice.id)
      yield* advanceTo(LATER)
      const { invoice: rest, payments } = yield* look(provider)
      assert.deepInclude(rest, { status: "open", collection: "awaiting_customer", amountDue: 1_500n })
      assert.deepStrictEqual(
        payments.map(({ amount, attention, status }) => [status, amount, attention?.code]),
        [
          ["open", 1_500n, undefined],
          ["succeeded", 500n, undefined],
          ["closed", 2_000n, undefined],
        ],
      )
      assert.notInclude(yield* typesOf, "payment.needs_attention")
    }).pipe(withProvider(provider))
  })

  it.effect("is closed and replaced once, by whichever runner", () => {
    const provider = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(provider)
      yield* (yield* CreditNotes).create({ invoiceId: invoice.id, amount: 1_500n, reason: "other" })
      yield* advanceTo(inHours(24))
      assert.lengthOf(provider.payments, 2)
    }).pipe(withProvider(provider))
  })
})

describe("a payment that is not wanted any more, and that the provider does not close", () => {
  it.effect("is tried for two weeks, and then a person has to look, and may cancel it", () => {
    let closings = 0
    let isBusy = true
    const provider = new FakeProvider({
      outcomeOf: () => declined("insufficient_funds"),
      faultOf: (call) => {
        if (call !== "closePayment") return undefined
        closings++
        return isBusy ? "break" : undefined
      },
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      yield* pay((yield* look(provider)).invoice.id)
      yield* advanceTo(inHours(24 * 29))
      assert.strictEqual(closings, CLOSE_DELAYS.length + 1)
      const { invoice, payments } = yield* look(provider)
      assert.deepInclude(invoice, { status: "paid", collection: "paid" })
      const [open] = payments.filter(({ status }) => status === "open")
      assert.strictEqual(open?.attention?.code, "not_closed")
      assert.include(open?.attention?.message, "the key is wrong")
      isBusy = false
      assert.strictEqual((yield* (yield* Payments).cancel(open!.id)).status, "closed")
    }).pipe(withProvider(provider))
  })

  it.effect.each([
    ["exhausted, as it was declined for good", "stop_payment_order", "exhausted", 0],
    ["attempted at once, as its retry is over", "insufficient_funds", "paid", 1],
  ] as const)(
    "that could not be closed for two weeks is replaced by one that is %s",
    ([, code, collection, taken]) => {
      let isBusy = true
      const provider = new FakeProvider({
        outcomeOf: outcomes(declined(code)),
        faultOf: (call) => (call === "closePayment" && isBusy ? "break" : undefined),
      })
      return Effect.gen(function* () {
        yield* subscribe
        yield* advanceTo(SOON)
        const { id: invoiceId } = (yield* look(provider)).invoice
        const { pay: attempt, record } = yield* Payments
        yield* record({ invoiceId, amount: 500n })
        yield* advanceTo(inHours(24 * 20))
        assert.strictEqual((yield* look(provider)).invoice.collection, "needs_attention")
        isBusy = false
        yield* record({ invoiceId, amount: 500n })
        yield* advanceTo(inHours(24 * 21))
        const after = yield* look(provider)
        assert.strictEqual(after.invoice.collection, collection)
        assert.lengthOf(after.taken, taken)
        if (collection === "exhausted") assert.strictEqual((yield* attempt(invoiceId)).status, "paid")
      }).pipe(withProvider(provider))
    },
  )
})
