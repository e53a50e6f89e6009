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

const SUBSCRIPTIONS = Number(process.env["BENCH_SUBSCRIPTIONS"] ?? 10_000)
const RECORDS = Number(process.env["BENCH_RECORDS"] ?? 1_000)
const STORED = Number(process.env["BENCH_STORED"] ?? 100)
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 5)
const TIMES = 10
/** Connections of the baseline by hand. */
const CONNECTIONS = 4

const { monthOf } = BillRunWorld

/** The month of a round, which all sides bill. The one after it is that with more records. The warm-up has the first two. */
const ofRound = (round: number): number => BillRunWorld.FIRST_MONTH + 2 + 2 * (round + 1)

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

/** Every side has billed the same amounts. */
const checkSums = async (client: Client, month: number): Promise<void> => {
  const { rows } = await client.query<{ count: string; ours: string; hand: string }>(
    `select (select count(*) from billwright.invoices i where i.period_end = $1 and i.issued_at >= $1)::text as count,
  (select sum(total) from billwright.invoices i where i.period_end = $1 and i.issued_at >= $1)::text as ours,
  (select sum(total) from hand.invoices i where i.period_end = $1)::text as hand`,
    [monthOf(month)],
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
      const ours = (month: number) =>
        timed(async () => {
          const issued = await world.bill(month)
          if (issued !== SUBSCRIPTIONS) throw new Error(`${issued} invoices were issued`)
        })
      const baseline = async (round: number, bill: (month: number) => Promise<void>): Promise<number> => {
        const month = ofRound(round)
        await resetHand(client, month)
        const rate = await timed(() => bill(month))
        await checkSums(client, month)
        return rate
      }
      await compare({
        name: "bill-run",
        title: `B13: ${SUBSCRIPTIONS} subscriptions with ${RECORDS} records in the month, Postgres ${server.version}`,
        unit: "subscriptions/s",
        isRate: true,
        rounds: ROUNDS,
        contenders: [
          {
            name: "Billwright",
            round: async (round) => {
              // Only when the other sides are left out, for a profile.
              await world.bill(ofRound(round) - 1)
              await BillRunWorld.useMonth(client, ofRound(round), RECORDS)
              return ours(ofRound(round))
            },
          },
          {
            name: "a transaction for each, by hand",
            round: (round) => baseline(round, (month) => billByHand(pool, month)),
          },
          {
            name: "one statement for all",
            round: (round) => baseline(round, (month) => billAll(client, monthOf(month), monthOf(month + 1))),
          },
          {
            name: `Billwright, ${TIMES} times the records`,
            round: async (round) => {
              await BillRunWorld.useMonth(client, ofRound(round) + 1, TIMES * RECORDS)
              return ours(ofRound(round) + 1)
            },
          },
        ],
      })
    })
  } finally {
    await pool.end()
    await world.close()
    await server.stop()
  }
}
