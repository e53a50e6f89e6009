/**
 * Amounts that a provider can't take: that is said when their invoice is issued, and the provider is not called.
 */
import { type Chargeable, FakeProvider, Invoices, type Money, Payments } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { advanceTo, events, inHours, look, SOON, subscribe, typesOf, withProvider } from "./collecting.ts"

/** A provider that answers for the amount of the invoice, and takes every other one. */
const limited = (answer: Chargeable, calls: Array<string> = []) =>
  new FakeProvider({
    chargeable: ({ amount }: Money) => (amount === 2_000n ? answer : { status: "ok" }),
    faultOf: (call) => {
      calls.push(call)
      return undefined
    },
  })

const rows: ReadonlyArray<readonly [string, Chargeable]> = [
  ["fake takes at least 50.00 EUR", { status: "below_minimum", minimum: 5_000n }],
  ["fake takes at most 0.05 EUR", { status: "above_maximum", maximum: 5n }],
  ["fake takes only multiples of 1000.00 EUR", { status: "not_representable", multipleOf: 100_000n }],
  ["fake does not take EUR", { status: "unsupported_currency" }],
]

describe("a payment that needs attention", () => {
  it.effect("is told of once, and its invoice can't be void while it may have taken the money", () => {
    const fake = new FakeProvider({
      faultOf: (call) => (call === "attemptPayment" || call === "readPayment" ? "lose_reply" : undefined),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(24 * 20))
      const { invoice, payments } = yield* look(fake)
      assert.strictEqual(invoice.collection, "needs_attention")
      assert.strictEqual(payments[0]?.attention?.code, "outcome_unknown")
      assert.deepStrictEqual(yield* typesOf, ["payment.unresolved", "payment.needs_attention"])
      const told = (yield* events).find(({ type }) => type === "payment.needs_attention")
      assert.deepInclude(told?.data, { payment_id: payments[0]?.id, attention_code: "outcome_unknown" })
      assert.notInclude(invoice.availableActions, "void")
      const refused = yield* Effect.flip((yield* Invoices).void(invoice.id))
      assert.include(refused.message, "a payment of it is needs_attention")
    }).pipe(withProvider(fake))
  })
})

describe("an amount that the provider can't take", () => {
  it.effect.each([...rows])("is said when the invoice is issued: %s", ([problem, answer]) => {
    const calls: Array<string> = []
    const fake = limited(answer, calls)
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice, payments } = yield* look(fake)
      assert.deepInclude(invoice, { status: "open", collection: "needs_attention" })
      const [payment] = payments
      assert.deepInclude(payment, { status: "open", reference: null })
      assert.strictEqual(payment?.attention?.code, "not_chargeable")
      assert.include(payment?.attention?.message, `record what comes by other means`)
      assert.include(payment?.attention?.message, problem)
      const refused = yield* Effect.flip((yield* Payments).pay(invoice.id))
      assert.include(refused.message, `pay is not possible: ${problem}`)
      // Nothing is tried by itself, and nobody is told of a payment that failed.
      yield* advanceTo(inHours(24 * 20))
      assert.deepStrictEqual(calls, [])
      assert.deepStrictEqual(yield* typesOf, ["payment.needs_attention"])
      const told = (yield* events).find(({ type }) => type === "payment.needs_attention")
      assert.deepInclude(told?.data, { payment_id: payment?.id, attention_code: "not_chargeable" })
      assert.notInclude(JSON.stringify(told), problem)
      assert.deepStrictEqual((yield* look(fake)).payments, payments)
    }).pipe(withProvider(fake))
  })

  it.effect("is paid by other means, or in a part that it can take", () => {
    const fake = limited({ status: "above_maximum", maximum: 1_000n })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(fake)
      yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 1_200n })
      // What is left gets a payment of its own.
      yield* advanceTo(inHours(2))
      const { booked, invoice: paid, taken } = yield* look(fake)
      assert.strictEqual(paid.status, "paid")
      assert.deepStrictEqual(booked, taken)
      assert.deepStrictEqual(
        booked.map(([, amount]) => amount),
        [800n],
      )
    }).pipe(withProvider(fake))
  })

  it.effect("is not waited for any more once its invoice is void, which needs nothing else", () => {
    const fake = limited({ status: "unsupported_currency" })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(fake)
      assert.include(invoice.availableActions, "void")
      assert.strictEqual((yield* (yield* Invoices).void(invoice.id)).status, "void")
      yield* advanceTo(inHours(2))
      const { invoice: voided, payments } = yield* look(fake)
      assert.deepInclude(voided, { status: "void", collection: "stopped" })
      assert.deepStrictEqual(
        payments.map(({ status }) => status),
        ["closed"],
      )
    }).pipe(withProvider(fake))
  })

  it.effect("is not waited for any more once its payment is canceled", () => {
    const fake = limited({ status: "unsupported_currency" })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { payments } = yield* look(fake)
      assert.strictEqual((yield* (yield* Payments).cancel(payments[0]!.id)).status, "closed")
      const { invoice } = yield* look(fake)
      assert.strictEqual(invoice.collection, "stopped")
      assert.include(invoice.availableActions, "void")
    }).pipe(withProvider(fake))
  })
})

describe("a provider that fails to say what it takes", () => {
  it.effect("holds up no invoice, and is called", () => {
    const fake = new FakeProvider({
      chargeable: () => {
        throw new Error("it broke")
      },
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(fake)).invoice.status, "paid")
      assert.isAbove((yield* events).length, 0)
    }).pipe(withProvider(fake))
  })
})
