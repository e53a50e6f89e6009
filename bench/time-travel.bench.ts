/**
 * B15: three years of 100 monthly subscriptions in memory.
 *
 * Each customer has a subscription to a plan of a fee and graduated usage, and records usage in each month. The clock goes
 * from one instant at which something is due to the next, and does it then: 3,700 invoices are made and issued.
 */
import {
  Billing,
  BillingRuns,
  type Customer,
  Customers,
  CurrentTenant,
  Invoices,
  Meters,
  Plans,
  Subscriptions,
  Tenant,
  Usage,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Clock, DateTime, Effect, Layer, Option } from "effect"
import { compare } from "./Comparison.ts"
import { pro } from "./MonthlyPlan.ts"

const SUBSCRIPTIONS = 100
const MONTHS = 36
const MONTH_MILLIS = (365.2425 / 12) * 86_400_000
const START = Date.UTC(2026, 0, 31, 12)
/** After the last period has ended, and the grace of its invoice is over. */
const END = Date.UTC(2029, 0, 31, 14)

/** A clock that stands until it is set. */
class StandingClock {
  now = START
  readonly clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => this.now,
    currentTimeMillis: Effect.sync(() => this.now),
    currentTimeNanosUnsafe: () => BigInt(this.now) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(this.now) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(this.now) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(this.now) * 1_000_000n),
    sleep: () => Effect.never,
  }
}

const begin = Effect.gen(function* () {
  const customers = yield* Customers
  const subscriptions = yield* Subscriptions
  yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
  yield* (yield* Plans).push({ plans: [pro] })
  return yield* Effect.forEach(
    Array.from({ length: SUBSCRIPTIONS }, (_, index) => index),
    (index) =>
      Effect.gen(function* () {
        const customer = yield* customers.create({
          name: `Customer ${index}`,
          email: `c${index}@example.com`,
        })
        yield* subscriptions.create({ customerId: customer.id, plan: pro.key })
        return customer.id
      }),
  )
})

/** Does what is due up to an instant, when it is due. */
const advance = Effect.fnUntraced(function* (clock: StandingClock, target: number) {
  const runs = yield* BillingRuns
  for (;;) {
    const next = Option.map(yield* runs.nextDueAt, DateTime.toEpochMillis)
    if (Option.isNone(next) || next.value > target) break
    clock.now = Math.max(clock.now, next.value)
    yield* runs.runDue()
  }
  clock.now = target
})

const use = Effect.fnUntraced(function* (customers: ReadonlyArray<Customer.CustomerId>, month: number) {
  const usage = yield* Usage
  for (const [index, customerId] of customers.entries())
    yield* usage.record({ customerId, productId: "api", unit: "call", quantity: (index + month) * 37 + 1 })
})

const threeYears = Effect.fnUntraced(function* (clock: StandingClock) {
  const customers = yield* begin
  for (let month = 0; month < MONTHS; month++) {
    yield* advance(clock, START + (month + 0.5) * MONTH_MILLIS)
    yield* use(customers, month)
  }
  yield* advance(clock, END)
})

/** Every subscription has an issued invoice for its start and for the end of each month. */
const check = Effect.gen(function* () {
  const invoices = yield* Invoices
  let issued = 0
  for (let cursor: string | undefined, hasMore = true; hasMore;) {
    const page = yield* invoices.list({
      limit: 100,
      ...(cursor === undefined ? {} : { startingAfter: cursor }),
    })
    issued += page.data.filter(({ status }) => status === "open").length
    hasMore = page.hasMore
    cursor = page.data.at(-1)?.id
  }
  const expected = SUBSCRIPTIONS * (MONTHS + 1)
  if (issued !== expected)
    return yield* Effect.die(new Error(`${issued} invoices were issued, not ${expected}`))
})

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const tenant = { accountId: Tenant.defaultAccountId, mode: "test" } as const
  await compare({
    name: "time-travel",
    title: `B15: ${MONTHS} months of ${SUBSCRIPTIONS} subscriptions in memory, with usage`,
    unit: "ms",
    isRate: false,
    contenders: [
      {
        name: "memory",
        round: () => {
          const clock = new StandingClock()
          return Effect.runPromise(
            Effect.gen(function* () {
              const started = performance.now()
              yield* threeYears(clock)
              const took = performance.now() - started
              yield* check
              return took
            }).pipe(
              Effect.provide(Billing.layer.pipe(Layer.provideMerge(Memory.layer))),
              Effect.provideService(CurrentTenant, tenant),
              Effect.provideService(Clock.Clock, clock.clock),
            ),
          )
        },
      },
    ],
  })
}
