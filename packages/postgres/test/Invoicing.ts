/**
 * A monthly plan with a flat fee and graduated usage, its subscribers, and what is made of it.
 */
import {
  BillingRuns,
  Customers,
  type Customer,
  Events,
  Invoices,
  Meters,
  type Plan,
  Plans,
  Subscriptions,
  Usage,
} from "@billwright/core"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"

/** The instant at which tests begin: at the end of a month, so that boundaries are clamped. */
export const START = DateTime.makeUnsafe("2026-01-31T12:00:00Z")

const pro: Plan.PushPlans["plans"][number] = {
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
      tiers: [{ up_to: "1000", price: { EUR: "0.01" } }, { price: { EUR: "0.002" } }],
    },
  ],
}

/** The meter of the plan. The first subscriber makes it. */
const withMeter = Effect.gen(function* () {
  const meters = yield* Meters
  const { data } = yield* meters.list({ key: "calls" })
  if (data.length === 0) yield* meters.create({ key: "calls", productId: "api", unit: "call" })
})

/** A new customer with a subscription that starts now. */
export const subscribe = Effect.gen(function* () {
  yield* withMeter
  yield* (yield* Plans).push({ plans: [pro] })
  const customer = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
  const subscription = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  return { customer, subscription }
})

/** Records calls of a customer now. */
export const use = Effect.fnUntraced(function* (customer: Customer.Customer, quantity: number) {
  const usage = yield* Usage
  return yield* usage.record({ customerId: customer.id, productId: "api", unit: "call", quantity })
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

/** All invoices, oldest first. */
export const allInvoices = Effect.gen(function* () {
  const { data } = yield* (yield* Invoices).list({ limit: 100 })
  return data.toReversed()
})

/** All events, newest first. */
export const allEvents = Effect.gen(function* () {
  const events = yield* Events
  const found: Array<unknown> = []
  let cursor: { startingAfter?: string } = {}
  for (;;) {
    const { data, hasMore } = yield* events.list({ limit: 100, ...cursor })
    found.push(...data.map(({ payload }) => payload))
    const last = data.at(-1)
    if (!hasMore || last === undefined) return found
    cursor = { startingAfter: last.id }
  }
})
