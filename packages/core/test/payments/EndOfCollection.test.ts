/** What happens when the payment of an invoice is not attempted any more by itself. */
import {
  type Billing,
  BillingRuns,
  FakeProvider,
  Invoices,
  Payments,
  Plans,
  Refunds,
  Subscriptions,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { inWorld, newCustomer, NOON } from "../world.ts"
import { advanceTo, declined, events, inHours, PLAN, SOON, subscribe } from "./collecting.ts"

type WhenExhausted = NonNullable<NonNullable<Billing.BillingOptions["invoices"]>["whenExhausted"]>

const withPolicy = (whenExhausted: WhenExhausted, outcomeOf = () => declined("stop_payment_order")) => {
  const payments = new FakeProvider({ outcomeOf })
  return inWorld({ payments, invoices: { whenExhausted } })
}

const look = Effect.gen(function* () {
  const subscription = (yield* (yield* Subscriptions).list()).data.at(-1)!
  const invoices = (yield* (yield* Invoices).list()).data
  const types = (yield* events).map(({ type }) => type as string)
  return { subscription, invoice: invoices.at(-1)!, invoices, types }
})

const countOf = (types: ReadonlyArray<string>, type: string) => types.filter((one) => one === type).length

const later = advanceTo(inHours(24 * 12))

describe("an invoice whose payment is not attempted any more", () => {
  it.effect("leaves its subscription as it is by default", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* later
      const { invoice, subscription } = yield* look
      assert.strictEqual(invoice.collection, "exhausted")
      assert.strictEqual(subscription.phase, "active")
    }).pipe(inWorld({ payments: new FakeProvider({ outcomeOf: () => declined("stop_payment_order") }) })),
  )

  it.effect("pauses its subscription once, after the last retry, without a credit", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(24 * 6))
      assert.strictEqual((yield* look).subscription.phase, "active")
      yield* later
      const { invoice, invoices, subscription, types } = yield* look
      assert.strictEqual(invoice.collection, "exhausted")
      assert.strictEqual(subscription.phase, "paused")
      assert.lengthOf(invoices, 1)
      assert.deepStrictEqual(types.slice(-2), ["invoice.collection_exhausted", "subscription.paused"])
      // Somebody resumes it. It is not paused again for the same reason.
      yield* (yield* Subscriptions).resume(subscription.id)
      yield* advanceTo(inHours(24 * 13))
      yield* (yield* BillingRuns).runDue()
      const after = yield* look
      assert.strictEqual(after.subscription.phase, "active")
      assert.strictEqual(countOf(after.types, "subscription.paused"), 1)
    }).pipe(withPolicy("pause", () => declined("insufficient_funds"))),
  )

  it.effect("does not resume it when it is paid later", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice, subscription } = yield* look
      assert.strictEqual(subscription.phase, "paused")
      yield* (yield* Payments).record({ invoiceId: invoice.id })
      yield* later
      const after = yield* look
      assert.strictEqual(after.invoice.status, "paid")
      assert.deepInclude(after.subscription, { phase: "paused", pastDueSince: null })
      const resumed = yield* (yield* Subscriptions).resume(subscription.id)
      assert.strictEqual(resumed.phase, "active")
    }).pipe(withPolicy("pause")),
  )

  it.effect("ends its subscription once, and a later payment does not bring it back", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice, subscription } = yield* look
      assert.strictEqual(subscription.phase, "ended")
      yield* (yield* Payments).record({ invoiceId: invoice.id })
      yield* later
      const after = yield* look
      assert.strictEqual(after.invoice.status, "paid")
      assert.strictEqual(after.subscription.phase, "ended")
      assert.lengthOf(after.invoices, 1)
      assert.strictEqual(countOf(after.types, "subscription.ended"), 1)
    }).pipe(withPolicy("cancel")),
  )

  it.effect("is written off, and may still be paid", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* later
      const { invoice, subscription, types } = yield* look
      assert.strictEqual(invoice.status, "uncollectible")
      assert.deepInclude(subscription, { phase: "active", pastDueSince: null })
      assert.strictEqual(countOf(types, "invoice.marked_uncollectible"), 1)
      yield* (yield* Payments).record({ invoiceId: invoice.id })
      assert.strictEqual((yield* look).invoice.status, "paid")
    }).pipe(withPolicy("uncollectible")),
  )

  it.effect("concerns each subscription that it bills, and no other one", () =>
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [PLAN] })
      const { id: customerId } = yield* newCustomer()
      const subscriptions = yield* Subscriptions
      const startAt = DateTime.add(NOON, { minutes: 1 })
      const create = (invoiceGroup: string | null) =>
        subscriptions.create({ customerId, plan: "base", invoiceGroup, startAt })
      const [ada, bob] = [yield* create("all"), yield* create("all")]
      const canceled = yield* create("all")
      yield* advanceTo(SOON)
      for (const { id } of [ada, bob, canceled]) {
        assert.strictEqual((yield* subscriptions.get(id)).phase, "paused")
      }
      const own = yield* subscriptions.create({ customerId, plan: "base", startAt: inHours(24 * 20) })
      yield* later
      assert.strictEqual((yield* subscriptions.get(own.id)).phase, "scheduled")
    }).pipe(withPolicy("pause")),
  )

  it.effect("does not come to its end a second time when a part is paid", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice, subscription } = yield* look
      assert.strictEqual(subscription.phase, "paused")
      yield* (yield* Subscriptions).resume(subscription.id)
      yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
      yield* later
      const after = yield* look
      assert.deepInclude(after.invoices.at(-1), { status: "open", collection: "exhausted" })
      assert.strictEqual(after.subscription.phase, "active")
      assert.strictEqual(countOf(after.types, "subscription.paused"), 1)
      assert.strictEqual(countOf(after.types, "invoice.collection_exhausted"), 1)
    }).pipe(withPolicy("pause")),
  )

  it.effect(
    "does not come to its end a second time when a part is paid and goes back before it is closed",
    () => {
      const payments = new FakeProvider({
        outcomeOf: () => declined("stop_payment_order"),
        faultOf: (call) => (call === "closePayment" ? "break" : undefined),
      })
      return Effect.gen(function* () {
        yield* subscribe
        yield* advanceTo(SOON)
        const { invoice, subscription } = yield* look
        yield* (yield* Subscriptions).resume(subscription.id)
        const part = yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
        yield* advanceTo(inHours(3))
        yield* (yield* Refunds).create({ paymentId: part.id, reason: "other" })
        yield* later
        const after = yield* look
        assert.deepInclude(after.invoices.at(-1), { status: "open", amountDue: 2000n })
        assert.strictEqual(after.subscription.phase, "active")
        assert.strictEqual(countOf(after.types, "subscription.paused"), 1)
      }).pipe(inWorld({ payments, invoices: { whenExhausted: "pause" } }))
    },
  )

  it.effect("comes to its end when a part was paid before", () => {
    const payments = new FakeProvider({ outcomeOf: () => ({ status: "processing" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      yield* (yield* Payments).record({ invoiceId: (yield* look).invoice.id, amount: 500n })
      payments.settle(payments.payments[0]!.reference, { code: "stop_payment_order" })
      yield* advanceTo(inHours(48))
      const after = yield* look
      assert.strictEqual(after.invoice.collection, "exhausted")
      assert.strictEqual(after.subscription.phase, "paused")
      assert.strictEqual(countOf(after.types, "subscription.paused"), 1)
      assert.strictEqual(countOf(after.types, "invoice.collection_exhausted"), 1)
    }).pipe(inWorld({ payments, invoices: { whenExhausted: "pause" } }))
  })

  it.effect("that was paid before it is done concerns nobody", () =>
    Effect.gen(function* () {
      const customer = yield* subscribe
      const runs = yield* BillingRuns
      // The payment has ended, and what follows is still to be done.
      yield* runs.runDue({ limit: 1 })
      for (let steps = 0; steps < 10; steps++) {
        if ((yield* look).invoices.at(0)?.collection === "exhausted") break
        yield* runs.runDue({ limit: 1 })
      }
      const { invoice, subscription } = yield* look
      assert.strictEqual(invoice.collection, "exhausted")
      assert.strictEqual(subscription.phase, "active")
      yield* (yield* Payments).record({ invoiceId: invoice.id })
      yield* later
      assert.strictEqual((yield* look).subscription.phase, "active")
      assert.strictEqual(invoice.customerId, customer.id)
    }).pipe(withPolicy("cancel")),
  )
})
