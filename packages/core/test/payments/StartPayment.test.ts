/**
 * The payment of an invoice while the customer is there: what the bank asks is confirmed on the page, and the secret for that
 * is given out and stored nowhere.
 */
import { BillingRuns, FakeProvider, type OpenPayment, Payments } from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { advanceTo, inHours, look, save, SOON, subscribe, withProvider } from "./collecting.ts"

const DAYS = 24

/** A customer whose card asks for a confirmation, with an invoice that waits for it. */
const waiting = Effect.fnUntraced(function* (fake: FakeProvider) {
  const customer = yield* subscribe
  yield* save(fake, customer.id, { behaviour: "needs_confirmation" })
  yield* advanceTo(SOON)
  const { invoice } = yield* look(fake)
  assert.strictEqual(invoice.collection, "awaiting_customer")
  return invoice
})

const start = (id: string, input?: Parameters<Payments["Service"]["startPayment"]>[1]) =>
  Effect.flatMap(Payments, (payments) => payments.startPayment(id, input))

/** Everything that is stored, as text. */
const stored = Effect.gen(function* () {
  const snapshot = yield* (yield* MemoryInspector).snapshot
  return JSON.stringify(snapshot, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
})

describe("a payment while the customer is there", () => {
  it.effect("gives the page a secret once, which is stored nowhere, and is paid when it is confirmed", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const { id } = yield* waiting(fake)
      const { clientSecret, invoice, url } = yield* start(id)
      assert.deepInclude(invoice, { id, status: "open", collection: "awaiting_customer" })
      assert.isNull(url)
      const { reference } = fake.payments[0]!
      assert.strictEqual(Redacted.value(clientSecret!), `${reference}_secret_fake`)
      assert.notInclude(String(clientSecret), "secret_fake")
      assert.include(yield* stored, reference)
      assert.notInclude(yield* stored, "secret_fake")
      // The page was loaded again.
      const again = yield* start(id)
      assert.strictEqual(Redacted.value(again.clientSecret!), Redacted.value(clientSecret!))
      fake.settle(reference, "succeeded")
      const after = yield* start(id)
      assert.deepInclude(after.invoice, { status: "paid", collection: "paid", amountDue: 0n })
      assert.deepInclude(after, { clientSecret: null, url: null })
      yield* advanceTo(inHours(20 * DAYS))
      const { booked, payments, taken } = yield* look(fake)
      assert.deepStrictEqual(booked, taken)
      assert.lengthOf(payments, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("gives the address of a page of the provider, if the customer is to return", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const { id } = yield* waiting(fake)
      const { clientSecret, url } = yield* start(id, { returnUrl: "https://shop.example/back" })
      assert.isNull(clientSecret)
      assert.include(Redacted.value(url!), fake.payments[0]!.reference)
      assert.notInclude(yield* stored, "https://fake.example/")
      const wrong = yield* Effect.flip(start(id, { returnUrl: "javascript:alert(1)" }))
      assert.deepInclude(wrong, { _tag: "InvalidInput", field: "returnUrl" })
    }).pipe(withProvider(fake))
  })

  it.effect("that asks nothing of the customer is paid at once", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(fake)
      assert.strictEqual(invoice.collection, "awaiting_method")
      const none = yield* Effect.flip(start(invoice.id))
      assert.include(none.message, "the customer has no default payment method: name one")
      const method = yield* save(fake, customer.id)
      const paid = yield* start(invoice.id, { paymentMethodId: method.id })
      assert.strictEqual(paid.invoice.status, "paid")
      assert.deepInclude(paid, { clientSecret: null, url: null })
      assert.deepStrictEqual(yield* start(invoice.id), paid)
    }).pipe(withProvider(fake))
  })

  it.effect("is attempted again with the customer when the background was faster", () => {
    let runDue: Effect.Effect<unknown> = Effect.void
    class Overtaken extends FakeProvider {
      override openPayment(payment: OpenPayment) {
        return Effect.tap(super.openPayment(payment), () => runDue)
      }
    }
    const fake = new Overtaken({ hasMethods: true })
    return Effect.gen(function* () {
      const { id } = yield* waiting(fake)
      const payments = yield* Payments
      yield* payments.cancel((yield* look(fake)).payments[0]!.id)
      const context = yield* Effect.context<BillingRuns>()
      const run = Effect.flatMap(BillingRuns, (runs) => runs.runDue()).pipe(
        Effect.provide(context),
        Effect.orDie,
      )
      let left = 1
      runDue = Effect.suspend(() => (left-- > 0 ? run : Effect.void))
      const { clientSecret, invoice } = yield* start(id)
      assert.strictEqual(invoice.collection, "awaiting_customer")
      assert.isNotNull(clientSecret)
      // One attempt of the background, and one with the customer.
      assert.lengthOf(fake.payments.at(-1)!.attempts, 2)
    }).pipe(withProvider(fake))
  })
})
