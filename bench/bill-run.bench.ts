/**
 * B13: a bill run of many subscriptions, against a transaction for each subscription written by hand, and against one
 * statement for all of them.
 *
 * Each round ends two months of every subscription, one with ten times the records of the other: usage is totalled, priced
 * in graduated tiers and in packages, the fee is charged, tax is added, and the invoice is numbered and issued with its lines and three
 * events. The usage of a month is in roll-ups before the run begins.
 *
 * `BENCH_SUBSCRIPTIONS`, `BENCH_RECORDS` (of each in a month), `BENCH_STORED` (records of each that are stored, too) and
 * `BENCH_ROUNDS` change the sizes.
 */
import { type Client, Pool } from "pg"
import { billAll, billOne, TABLES } from "./BillRunBaselines.ts"
import * as BillRunWorld from "./BillRunWorld.ts"
import { compare } from "./Comparison.ts"
import { connected } from "./Fill.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { placeOf } from "./Rounds.ts"

const SUBSCRIPTIONS = Number(process.env["BENCH_SUBSCRIPTIONS"] ?? 10_000)
const RECORDS = Number(process.env["BENCH_RECORDS"] ?? 1_000)
const STORED = Number(process.env["BENCH_STORED"] ?? 100)
const TIMES = 10
/** Connections of the baseline by hand. */
const CONNECTIONS = 4

const { monthOf } = BillRunWorld

/** The sides, in the order of their places in the first round. */
const SIDES = [
  "Billwright",
  "a transaction for each, by hand",
  "one statement for all",
  `Billwright, ${TIMES} times the records`,
] as const

/**
 * The month of a round that all sides bill, and the one with more records. The library bills one after the other, so the month
 * of the side that comes first in the round is the earlier one. The warm-up has the first two.
 */
const monthsOf = (round: number): { readonly usual: number; readonly larger: number } => {
  const [earlier, later] = [0, 1].map((month) => BillRunWorld.FIRST_MONTH + 2 + 2 * (round + 1) + month)
  const isUsualFirst = placeOf(0, SIDES.length, round) < placeOf(SIDES.length - 1, SIDES.length, round)
  return isUsualFirst ? { usual: earlier!, larger: later! } : { usual: later!, larger: earlier! }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return SUBSCRIPTIONS / ((performance.now() - started) / 1000)
}

const billByHand = async (pool: Pool, month: number): Promise<void> => {
  const { rows } = await pool.query<{ id: string }>(
    "select id from hand.subscriptions where period_end = $1",
    [monthOf(month)],
  )
  const worker = async () => {
    const client = await pool.connect()
    try {
      for (let next = rows.pop(); next !== undefined; next = rows.pop())
        await billOne(client, next.id, monthOf(month + 1))
    } finally {
      client.release()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
}

interface Sums {
  readonly count: string
  readonly sum: string
}

/** What the library billed for the month before an instant. */
const OURS = `select count(*)::text as count, coalesce(sum(i.total), 0)::text as sum from billwright.invoices i
where i.period_end = $1 and i.issued_at >= $1`

const HAND =
  "select count(*)::text as count, coalesce(sum(i.total), 0)::text as sum from hand.invoices i where i.period_end = $1"

/** The amounts of a month that the sides billed so far. Throws when two sides differ. */
const makeChecker = (client: Client) => {
  const known = new Map<number, string>()
  return async (statement: string, month: number): Promise<void> => {
    const { rows } = await client.query<Sums>(statement, [monthOf(month)])
    const { count, sum } = rows[0]!
    if (count !== String(SUBSCRIPTIONS)) throw new Error(`${count} invoices were made`)
    if ((known.get(month) ?? sum) !== sum)
      throw new Error(`${sum} was billed, and ${known.get(month)} before`)
    known.set(month, sum)
  }
}

/** The subscriptions of the baseline, which have begun at the same time. Gives back what it billed before. */
const RESET = `truncate hand.events, hand.lines, hand.invoices;
delete from hand.subscriptions;
insert into hand.subscriptions
select id, customer_id, $start, $end from billwright.billing_subscriptions`

const resetHand = async (client: Client, month: number): Promise<void> => {
  const literal = (date: Date) => `timestamptz '${date.toISOString()}'`
  await client.query(
    RESET.replace("$start", literal(monthOf(month - 1))).replace("$end", literal(monthOf(month))),
  )
  await client.query("analyze hand.subscriptions")
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const url = await server.createDatabase("bench_bill_run")
  const world = await BillRunWorld.make(url, SUBSCRIPTIONS)
  const pool = new Pool({ connectionString: url, max: CONNECTIONS })
  try {
    await connected(url, async (client) => {
      await client.query(TABLES)
      await BillRunWorld.storeRecords(client, STORED)
      await world.bill(BillRunWorld.FIRST_MONTH + 1)
      await client.query("vacuum analyze")
      const check = makeChecker(client)
      let prepared = -2
      /** Writes the usage of both months of a round, before the first of its sides. */
      const prepare = async (round: number): Promise<void> => {
        if (prepared === round) return
        prepared = round
        const { larger, usual } = monthsOf(round)
        await BillRunWorld.useMonth(client, usual, RECORDS)
        await BillRunWorld.useMonth(client, larger, TIMES * RECORDS)
      }
      const ours = async (month: number): Promise<number> => {
        // Does something only when the other sides are left out, for a profile.
        await world.bill(month - 1)
        await world.passDueDates(month)
        const rate = await timed(async () => {
          const issued = await world.bill(month)
          if (issued !== SUBSCRIPTIONS) throw new Error(`${issued} invoices were issued`)
        })
        await check(OURS, month)
        return rate
      }
      const baseline = async (round: number, bill: (month: number) => Promise<void>): Promise<number> => {
        const month = monthsOf(round).usual
        await prepare(round)
        await resetHand(client, month)
        const rate = await timed(() => bill(month))
        await check(HAND, month)
        return rate
      }
      const rounds: ReadonlyArray<(round: number) => Promise<number>> = [
        async (round) => {
          await prepare(round)
          return ours(monthsOf(round).usual)
        },
        (round) => baseline(round, (month) => billByHand(pool, month)),
        (round) => baseline(round, (month) => billAll(client, monthOf(month), monthOf(month + 1))),
        async (round) => {
          await prepare(round)
          return ours(monthsOf(round).larger)
        },
      ]
      await compare({
        name: "bill-run",
        title: `B13: ${SUBSCRIPTIONS} subscriptions with ${RECORDS} records in the month, Postgres ${server.version}`,
        unit: "subscriptions/s",
        isRate: true,
        contenders: SIDES.map((name, side) => ({ name, round: rounds[side]! })),
      })
    })
  } finally {
    await pool.end()
    await world.close()
    await server.stop()
  }
}
