/**
 * Customers of a monthly plan with a fee, graduated usage and credits, whose first month is over.
 */
import {
  Credits,
  type Customer,
  Customers,
  Meters,
  type Plan,
  Plans,
  Subscriptions,
  type TestClock,
  TestClocks,
  Usage,
} from "@billwright/core"
import { DateTime, Effect } from "effect"
import type { Installation } from "./Installation.ts"

/** At the end of a month, so that boundaries are clamped. */
const START = DateTime.makeUnsafe("2026-01-31T12:00:00Z")
export const START_MILLIS = START.epochMilliseconds
export const HOUR = 3_600_000
export const DAY = 24 * HOUR
/** Two hours after the first month, when its invoices can be issued. */
export const CLOSING = DateTime.add(START, { months: 1, hours: 2 }).epochMilliseconds
/** Two hours after the second month. */
export const SETTLED = DateTime.add(START, { months: 2, hours: 2 }).epochMilliseconds

const tiers = [{ up_to: "1000", price: { EUR: "0.013" } }, { price: { EUR: "0.002" } }]

const plan = (key: string, interval: Plan.PushPlans["plans"][number]["interval"]) => ({
  key,
  name: key,
  currencies: ["EUR"],
  interval,
  charges: [
    { key: "base", model: "flat" as const, price: { EUR: "20.00" } },
    { key: "calls", model: "graduated" as const, meter: "calls", free: "50", tiers },
  ],
  grants: [{ unit: "token", amount: "1000", rollover: { maximum: "300" } }],
})

/** Customers that subscribe at the start, by a test clock or in real time. */
export const subscribe = (count: number, key = "monthly", testClockId: TestClock.TestClockId | null = null) =>
  Effect.gen(function* () {
    const meters = yield* Meters
    yield* meters.create({ key: "calls", productId: "api", unit: "call" })
    yield* (yield* Plans).push({
      plans: [plan("monthly", { unit: "month", count: 1 }), plan("daily", { unit: "day", count: 1 })],
    })
    const made: Array<Customer.Customer> = []
    for (let n = 0; n < count; n++) {
      const customer = yield* (yield* Customers).create({
        name: `c${n}`,
        email: `c${n}@example.com`,
        testClockId,
      })
      yield* (yield* Subscriptions).create({
        customerId: customer.id,
        plan: key,
        metadata: { command: String(n) },
      })
      made.push(customer)
    }
    return made
  })

/** Records calls of a customer at an instant. */
export const use = (customer: Customer.Customer, quantity: number, at: number) =>
  Effect.flatMap(Usage, (usage) =>
    usage.record({
      customerId: customer.id,
      productId: "api",
      unit: "call",
      quantity,
      timestamp: DateTime.makeUnsafe(at),
    }),
  )

/** Uses credits that the plan of a customer grants. */
const consume = ({ id }: Customer.Customer, amount: bigint) =>
  Effect.flatMap(Credits, (credits) => credits.consume({ customerId: id, unit: "token", amount }))

/** Customers whose first month is over and not billed yet. The clock stands two hours after it. */
export const month = async (
  installation: Installation,
  count: number,
): Promise<ReadonlyArray<Customer.Customer>> => {
  const customers = await installation.run(subscribe(count))
  installation.now += 10 * DAY
  for (const [n, customer] of customers.entries()) {
    await installation.run(use(customer, 700 * n + 51, installation.now))
    // Of some, more is left than may stay after the month.
    await installation.run(consume(customer, BigInt(1 + ((480 * n) % 1_000))))
  }
  installation.now = CLOSING
  return customers
}

/** A test clock at the start, with customers that have used something in their first month, and the end of its way. */
export const clocked = async (installation: Installation, count: number): Promise<TestClock.TestClock> => {
  const made = await installation.run(
    Effect.gen(function* () {
      const clock = yield* (yield* TestClocks).create({ now: START })
      return { clock, customers: yield* subscribe(count, "monthly", clock.id) }
    }),
  )
  const { clock, customers } = made
  for (const [n, customer] of customers.entries()) {
    await installation.run(use(customer, 700 * n + 51, START_MILLIS))
  }
  return clock
}

/** Moves a test clock on, until it is there. */
export const advanced = async (installation: Installation, id: string, to: number): Promise<void> => {
  const call = Effect.flatMap(TestClocks, (clocks) => clocks.advance(id, { to: DateTime.makeUnsafe(to) }))
  while ((await installation.run(call)).status !== "ready");
}
