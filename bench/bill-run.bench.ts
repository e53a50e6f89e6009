/**
 * B13: a bill run of many subscriptions, against a transaction for each subscription written by hand, and against one
 * statement for all of them.
 *
 * Each round ends a month of every subscription: its usage is totalled, priced in graduated tiers and in packages, its
 * fee is charged, and its invoice is numbered and issued with its lines and three events. The usage of a month is in
 * roll-ups and records before the round begins. `BENCH_SUBSCRIPTIONS` and `BENCH_RECORDS` (of each in a month) make it
 * smaller.
 */
import { BillingRuns, Customers, Meters, Plans, Subscriptions } from "@billwright/core"
import type { PlanDefinition } from "@billwright/engine"
import { Clock, DateTime, Effect } from "effect"
import { type Client, Pool } from "pg"
import { billAll, billOne, TABLES } from "./BillRunBaselines.ts"
import { compare } from "./Comparison.ts"
import { connected, ROLL_UP } from "./Fill.ts"
import { pro } from "./MonthlyPlan.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"

const SUBSCRIPTIONS = Number(process.env["BENCH_SUBSCRIPTIONS"] ?? 10_000)
const RECORDS = Number(process.env["BENCH_RECORDS"] ?? 1_000)
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 5)
/** Connections of the baseline by hand. */
const CONNECTIONS = 4

/** The end of the month of a round. The month of the warm-up ends in March. It is in the future, so that only rounds bill. */
const monthOf = (round: number): Date => new Date(Date.UTC(2030, round + 3, 1))

const plan: PlanDefinition = {
  ...pro,
  policy: { grace_hours: 0 },
  charges: [
    ...pro.charges,
    { key: "blocks", model: "package", meter: "calls", size: "100", price: { EUR: "0.25" } },
  ],
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

const begin = Effect.gen(function* () {
  const customers = yield* Customers
  const subscriptions = yield* Subscriptions
  yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
  yield* (yield* Plans).push({ plans: [plan] })
  yield* Effect.forEach(
    Array.from({ length: SUBSCRIPTIONS }, (_, index) => index),
    (index) =>
      Effect.gen(function* () {
        const customer = yield* customers.create({
          name: `Customer ${index}`,
          email: `c${index}@example.com`,
        })
        const startAt = DateTime.makeUnsafe(monthOf(-2))
        yield* subscriptions.create({ customerId: customer.id, plan: plan.key, startAt })
      }),
    { concurrency: 8, discard: true },
  )
})

/** Writes the records of a month, spread over it, and their roll-ups. */
const useMonth = async (client: Client, round: number): Promise<void> => {
  const start = monthOf(round - 1).toISOString()
  const end = monthOf(round).toISOString()
  await client.query("drop table if exists month_records")
  await client.query(
    `create temporary table month_records as
select s.account_id, s.mode, s.customer_id, gen_random_uuid() as id, 'api' as product_id, 'call' as unit,
  (n * 7 + ${round + 1}) % 13 as quantity,
  timestamptz '${start}' + (timestamptz '${end}' - timestamptz '${start}') * (n::float8 / ${RECORDS}) as occurred_at
from billwright.billing_subscriptions s cross join generate_series(0, ${RECORDS - 1}) n`,
  )
  await client.query(
    `insert into billwright.usage_records (account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, created_at)
select account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, occurred_at from month_records`,
  )
  await client.query(ROLL_UP.replace("billwright.usage_records", "month_records"))
  await client.query("analyze billwright.usage_daily")
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return SUBSCRIPTIONS / ((performance.now() - started) / 1000)
}

const billByHand = async (pool: Pool, round: number): Promise<void> => {
  const { rows } = await pool.query<{ id: string }>(
    "select id from hand.subscriptions where period_end = $1",
    [monthOf(round)],
  )
  const worker = async () => {
    const client = await pool.connect()
    try {
      for (let next = rows.pop(); next !== undefined; next = rows.pop())
        await billOne(client, next.id, monthOf(round + 1))
    } finally {
      client.release()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
}

/** Every side has billed the same amounts: ours also has the invoices of the start. */
const checkSums = async (client: Client, round: number): Promise<void> => {
  const { rows } = await client.query<{ count: string; ours: string; hand: string }>(
    `select (select count(*) from billwright.invoices i where i.period_end = $1 and i.issued_at >= $1)::text as count,
  (select sum(total) from billwright.invoices i where i.period_end = $1 and i.issued_at >= $1)::text as ours,
  (select sum(total) from hand.invoices i where i.period_end = $1)::text as hand`,
    [monthOf(round)],
  )
  const { count, hand, ours } = rows[0]!
  if (count !== String(SUBSCRIPTIONS) || ours !== hand)
    throw new Error(`${count} invoices of ${ours} were issued, and ${hand} by hand`)
}

/** The subscriptions of the baseline, which have begun at the same time. Gives back what it billed before. */
const RESET = `truncate hand.events, hand.lines, hand.invoices;
delete from hand.subscriptions;
insert into hand.subscriptions
select id, customer_id, $start, $end from billwright.billing_subscriptions`

const resetHand = async (client: Client, round: number): Promise<void> => {
  const literal = (date: Date) => `timestamptz '${date.toISOString()}'`
  await client.query(
    RESET.replace("$start", literal(monthOf(round - 1))).replace("$end", literal(monthOf(round))),
  )
  await client.query("analyze hand.subscriptions")
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const url = await server.createDatabase("bench_bill_run")
  const clock = new ShiftedClock(await Effect.runPromise(Clock.clockWith(Effect.succeed)))
  const ours = Ours.make(url)
  const runOurs = <A, E>(effect: Effect.Effect<A, E, Ours.Services>) =>
    ours.run(Effect.provideService(effect, Clock.Clock, clock.clock))
  const runDue = Effect.flatMap(BillingRuns, (runs) => runs.runDue())
  const pool = new Pool({ connectionString: url, max: CONNECTIONS })
  try {
    clock.set(monthOf(-2))
    await runOurs(begin)
    await runOurs(runDue)
    await connected(url, async (client) => {
      await client.query(TABLES)
      await client.query("vacuum analyze")
      /** The usage of the month that a round ends. */
      let used = -2
      const prepare = async (round: number) => {
        if (used !== round) await useMonth(client, round)
        used = round
        await resetHand(client, round)
      }
      const title = `B13: ${SUBSCRIPTIONS} subscriptions with ${RECORDS} records in the month, Postgres ${server.version}`
      await compare({
        name: "bill-run",
        title,
        unit: "subscriptions/s",
        isRate: true,
        rounds: ROUNDS,
        contenders: [
          {
            name: "Billwright",
            round: async (round) => {
              await prepare(round)
              clock.set(monthOf(round))
              return timed(() => runOurs(runDue))
            },
          },
          {
            name: "a transaction for each, by hand",
            round: async (round) => {
              await prepare(round)
              const rate = await timed(() => billByHand(pool, round))
              await checkSums(client, round)
              return rate
            },
          },
          {
            name: "one statement for all",
            round: async (round) => {
              await prepare(round)
              const rate = await timed(() => billAll(client, monthOf(round), monthOf(round + 1)))
              await checkSums(client, round)
              return rate
            },
          },
        ],
      })
    })
  } finally {
    await pool.end()
    await ours.close()
    await server.stop()
  }
}
