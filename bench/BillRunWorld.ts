/**
 * What the benchmarks of bill runs work on: subscriptions to one plan, the usage of their months, and a clock that is set
 * to the end of a month.
 */
import {
  BillingRuns,
  Customers,
  type InvoicesOptions,
  Meters,
  type Pace,
  PlanCosts,
  Plans,
  Subscriptions,
} from "@billwright/core"
import type { PlanDefinition } from "@billwright/engine"
import { Clock, DateTime, Effect } from "effect"
import type { Client } from "pg"
import { copyCustomer } from "./CopiedCustomers.ts"
import { connected, fillTables } from "./Fill.ts"
import { pro } from "./MonthlyPlan.ts"
import * as Ours from "./Ours.ts"

/** The end of a month by its number. Month 0 ends in April. It is in the future, so that only the benchmark bills. */
export const monthOf = (month: number): Date => new Date(Date.UTC(2030, month + 3, 1))

/** The month whose start is that of all subscriptions. */
export const FIRST_MONTH = -2

/** How many days before the end of a month the due dates of the last invoices, 14 days after they were issued, are over. */
const DAYS_AFTER_DUE_DATES = 7
const DAY_MILLIS = 86_400_000

/** Days of a month that have usage: all have as many, so that months cost the same. */
const DAYS = 28

const plan: PlanDefinition = {
  ...pro,
  policy: { grace_hours: 0 },
  charges: [
    ...pro.charges,
    { key: "blocks", model: "package", meter: "calls", size: "100", price: { EUR: "0.25" } },
  ],
}

/** The tax of all customers, in percent. */
export const TAX_PERCENT = 19

const invoices: InvoicesOptions = {
  tax: { behavior: "exclusive", seller: "DE", rates: [{ country: "DE", rate: String(TAX_PERCENT) }] },
}

/** The real clock, from another date. */
class ShiftedClock {
  #shift = 0
  readonly clock: Clock.Clock

  constructor(real: Clock.Clock) {
    const millis = () => real.currentTimeMillisUnsafe() + this.#shift
    const nanos = () => real.currentTimeNanosUnsafe() + BigInt(this.#shift) * 1_000_000n
    this.clock = {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: real.monotonicTimeNanos,
      sleep: (duration) => real.sleep(duration),
    }
  }

  set(instant: Date): void {
    this.#shift = instant.getTime() - Date.now()
  }
}

/** One customer with a subscription that starts at the end of the first month. */
const subscribe = Effect.gen(function* () {
  yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
  yield* (yield* Plans).push({ plans: [plan] })
  const customer = yield* (yield* Customers).create({ name: "Customer", email: "customer@example.com" })
  const startAt = DateTime.makeUnsafe(monthOf(FIRST_MONTH))
  yield* (yield* Subscriptions).create({ customerId: customer.id, plan: plan.key, startAt })
})

/** The library, with subscriptions whose first invoice is issued. */
export interface World {
  /** Does what is due at the end of a month. Gives how many invoices it issued. Default pace: `full`. */
  readonly bill: (month: number, pace?: Pace) => Promise<number>
  /**
   * Does what is due some days before the end of a month: the due dates of the last invoices are over, and they become overdue. A
   * server does it on that day, so it is no part of the run at the end of the month.
   */
  readonly passDueDates: (month: number) => Promise<void>
  /** Compares the plan with one that is dearer, over the months before the end of a month. Gives how many periods it rated. */
  readonly compare: (month: number, months: number) => Promise<number>
  readonly close: () => Promise<void>
}

const dearer: PlanDefinition = {
  ...plan,
  charges: plan.charges.map((charge) =>
    charge.key === "base" ? { ...charge, price: { EUR: "22.00" } } : charge,
  ),
}

export const make = async (url: string, subscriptions: number): Promise<World> => {
  const clock = new ShiftedClock(await Effect.runPromise(Clock.clockWith(Effect.succeed)))
  const ours = Ours.make(url, invoices)
  const run = <A, E>(effect: Effect.Effect<A, E, Ours.Services>) =>
    ours.run(Effect.provideService(effect, Clock.Clock, clock.clock))
  const doAllUntil = async (instant: Date, pace: Pace = "full"): Promise<number> => {
    clock.set(instant)
    const { invoices } = await run(Effect.flatMap(BillingRuns, (runs) => runs.runDue({ pace })))
    return invoices
  }
  const bill = (month: number, pace?: Pace) => doAllUntil(monthOf(month), pace)
  const passDueDates = async (month: number): Promise<void> => {
    const issued = await doAllUntil(new Date(monthOf(month).getTime() - DAYS_AFTER_DUE_DATES * DAY_MILLIS))
    if (issued !== 0) throw new Error(`${issued} invoices were issued before the end of the month`)
  }
  const compare = async (month: number, months: number): Promise<number> => {
    clock.set(monthOf(month))
    const { currencies, periods } = await run(
      Effect.flatMap(PlanCosts, (costs) => costs.compare({ plans: [dearer], months })),
    )
    if (currencies[0]?.rises !== subscriptions) throw new Error(`it is dearer for ${currencies[0]?.rises}`)
    return periods
  }
  clock.set(monthOf(FIRST_MONTH - 1))
  await run(subscribe)
  await connected(url, (client) => copyCustomer(client, subscriptions - 1))
  await bill(FIRST_MONTH)
  return { bill, passDueDates, compare, close: ours.close }
}

/**
 * Writes the roll-ups of a month: as many records of each subscription, spread over its days. A bill run reads no records,
 * so they are not written.
 */
export const useMonth = async (client: Client, month: number, records: number): Promise<void> => {
  const start = monthOf(month - 1).toISOString()
  await client.query(
    `insert into billwright.usage_daily (account_id, mode, customer_id, product_id, unit, day, quantity, record_count)
select s.account_id, s.mode, s.customer_id, 'api', 'call', u.day, u.quantity, u.record_count
from billwright.billing_subscriptions s
cross join (
  select (timestamptz '${start}' at time zone 'UTC')::date + d.day as day, sum((n * 7 + ${month + 3}) % 13) as quantity,
    count(*) as record_count
  from generate_series(0, ${DAYS - 1}) as d (day)
  cross join lateral generate_series(d.day, ${records - 1}, ${DAYS}) as n
  group by d.day
) as u`,
  )
  await client.query("analyze billwright.usage_daily")
}

/** Writes records of the first month, spread over it, with their roll-ups. */
export const storeRecords = async (client: Client, records: number): Promise<void> => {
  const start = monthOf(FIRST_MONTH).toISOString()
  await fillTables(client, ["billwright.usage_records"], async () => {
    await client.query(
      `insert into billwright.usage_records (account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, created_at)
select s.account_id, s.mode, s.customer_id, gen_random_uuid(), 'api', 'call', (n * 7 + 2) % 13, t.at, t.at
from billwright.billing_subscriptions s
cross join generate_series(0, ${records - 1}) as n
cross join lateral (
    select timestamptz '${start}' + (n % ${DAYS}) * interval '1 day' + n * interval '1 second' as at
) as t`,
    )
  })
  await useMonth(client, FIRST_MONTH + 1, records)
}
