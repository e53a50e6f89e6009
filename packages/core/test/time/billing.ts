/**
 * A clock that stops where something is due, and what a test sees of billing.
 */
import {
  AuditTrail,
  BillingRuns,
  Collections,
  CreditNotes,
  Credits,
  type Customer,
  IdGenerator,
  Invoices,
  Meter,
  Meters,
  MoneyCredits,
  Outbox,
  Payments,
  Plans,
  ReceiptAudit,
  Resources,
  Subscriptions,
  Tenant,
  Usage,
} from "@billwright/core"
import type { PlanDefinition } from "@billwright/engine"
import { Memory, MemoryInspector } from "@billwright/memory"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { acme } from "../world.ts"

const services = Layer.mergeAll(
  BillingRuns.layerManual,
  CreditNotes.layer,
  Credits.layer,
  Invoices.layer,
  Payments.layer,
  Plans.layer,
  ReceiptAudit.layer,
  Resources.layer,
  Subscriptions.layer,
  Usage.layerWith({}),
).pipe(
  Layer.provideMerge(MoneyCredits.layer),
  Layer.provideMerge(Outbox.layer),
  Layer.provide(AuditTrail.layer),
  Layer.provideMerge(Layer.mergeAll(Memory.layer, IdGenerator.layerSeeded(1))),
  Layer.merge(Layer.succeed(Tenant.CurrentTenant, acme)),
)

/**
 * Runs a test as the tenant `acme`, in a new world whose clock stands at an instant. Nothing in it wakes by itself: in
 * three years, what wakes every few minutes would do so many times.
 */
export const inYears =
  (start: number) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.andThen(TestClock.setTime(start), Effect.provide(test, services))

/** A monthly plan: 20.00 in advance, and calls in graduated tiers, of which 100 are free. */
export const pro: PlanDefinition = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    {
      key: "calls",
      model: "graduated",
      meter: "calls",
      free: "100",
      tiers: [
        { up_to: "1000", price: { EUR: "0.01" } },
        { up_to: "5000", price: { EUR: "0.005" } },
        { price: { EUR: "0.002" } },
      ],
    },
  ],
}

export const pushPro = Effect.gen(function* () {
  yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
  yield* (yield* Plans).push({ plans: [pro] })
})

/** Moves the clock to an instant, in epoch milliseconds, and does what is due on the way when it is due. */
export const advanceTo = Effect.fnUntraced(function* (target: number) {
  const runs = yield* BillingRuns
  for (;;) {
    const next = yield* runs.nextDueAt
    const now = yield* DateTime.now
    if (Option.isNone(next) || next.value.epochMilliseconds > target) break
    yield* TestClock.setTime(Math.max(now.epochMilliseconds, next.value.epochMilliseconds))
    yield* runs.runDue()
  }
  yield* TestClock.setTime(target)
})

/** Records calls of a customer now. */
export const use = Effect.fnUntraced(function* (customer: Customer.Customer, quantity: number) {
  const usage = yield* Usage
  return yield* usage.record({ customerId: customer.id, productId: "api", unit: "call", quantity })
})

/** All invoices, oldest first. */
export const allInvoices = Effect.gen(function* () {
  const { data } = yield* (yield* Invoices).list({ limit: 100 })
  return data.toReversed()
})

/** All events, oldest first: their instants and types. */
export const allEvents = Effect.gen(function* () {
  const { events } = yield* (yield* MemoryInspector).snapshot
  return events.map(({ event: { timestamp, type } }) => `${DateTime.formatIso(timestamp)} ${type}`)
})

/** Makes billing fail: a meter that plans name is archived, as earlier releases did. */
export const breakMeter = Effect.gen(function* () {
  const collection = (yield* Collections).of(Meter.meters)
  const [meter] = (yield* (yield* Meters).list()).data
  yield* collection.modify(meter!.id, (one) => Effect.succeed({ ...one, status: "archived" as const }))
})
