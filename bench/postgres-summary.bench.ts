/**
 * B3: the summary of a customer's month of 10 million records. Compared with the same at 100,000 records, with adding up the
 * records, and with a daily roll-up by hand: the one that the writer of B2's baseline keeps.
 *
 * SQL writes the records and both roll-ups, because that part is not measured. Then all of them are compared. Each figure is the
 * time of one answer: the median of 200 in a row, and a single one for the sum.
 */
import { Customers, Id, Usage } from "@billwright/core"
import { Effect } from "effect"
import { Client } from "pg"
import { SUMMARY, TABLES as HAND_TABLES } from "./baselines/HandUsage.ts"
import { compare } from "./Comparison.ts"
import { fillTables, ROLL_UP, uuidOf } from "./Fill.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { sizes } from "./Sizes.ts"
import { summaries, timed } from "./Summaries.ts"

const DEFAULT_MILLIONS = [10, 0.1]

/** A record every 259.2 ms (or 25.92 s) of the 30 days, with rising ids. */
const FILL = `
insert into billwright.usage_records
  (account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, idempotency_key, created_at)
select 'default', 'live', $1::uuid,
  ${uuidOf("0190", "n")},
  'api', 'call', n % 1000, timestamptz '2026-11-01Z' + n * interval '30 days' / $2::int, 'key-' || n, now()
from generate_series(0, $2::int - 1) as n`

const SUM = `
select sum(quantity)::text as total from billwright.usage_records
where account_id = 'default' and mode = 'live' and customer_id = $1 and voided_at is null
  and occurred_at >= '2026-11-01Z' and occurred_at < '2026-12-01Z'`

/** The roll-up by hand, which has the same rows as ours. */
const HAND_ROLL_UP = `
insert into hand.usage_daily
select account_id, mode, customer_id, product_id, unit, (occurred_at at time zone 'UTC')::date, sum(quantity), count(*)
from billwright.usage_records group by 1, 2, 3, 4, 5, 6`

const TABLES = ["billwright.usage_records", "billwright.usage_daily"]

const prepare = async (url: string, records: number) => {
  const ours = Ours.make(url)
  const { id } = await ours.run(
    Effect.flatMap(Customers, (customers) => customers.create({ name: "Ada", email: "ada@example.com" })),
  )
  const client = new Client({ connectionString: url })
  // When something else fails, the server ends first, and this error would hide that failure.
  client.on("error", () => {})
  await client.connect()
  await client.query(`create schema hand; set search_path to hand; ${HAND_TABLES}; reset search_path`)
  console.log(`  writing ${records.toLocaleString("en-US")} records`)
  await client.query("set statement_timeout = 0")
  await fillTables(client, TABLES, async () => {
    await client.query(FILL, [Id.toUuid(id), records])
    await client.query(ROLL_UP)
  })
  await client.query(HAND_ROLL_UP)
  await client.query("vacuum (analyze) hand.usage_daily")
  await client.query("set search_path to hand")
  const summary = Effect.flatMap(Usage, (usage) =>
    usage.summary({ customerId: id, startDate: "2026-11-01", endDate: "2026-11-30" }),
  )
  const sum = async () => (await client.query<{ total: string }>(SUM, [Id.toUuid(id)])).rows[0]!.total
  const days = ["default", "live", Id.toUuid(id), "2026-11-01", "2026-11-30"]
  const byHand = async () =>
    (
      await client.query<{ total: string; count: number }>({
        name: "summary",
        text: SUMMARY,
        values: days,
      })
    ).rows[0]!
  const { recordCount, totalQuantity } = await ours.run(summary)
  if (recordCount !== records || String(totalQuantity) !== (await sum())) throw new Error("the totals differ")
  const hand = await byHand()
  if (hand.count !== records || hand.total !== String(totalQuantity)) throw new Error("the roll-ups differ")
  return {
    summary: () => ours.run(summary),
    sum,
    byHand,
    close: async () => {
      await client.end()
      await ours.close()
    },
  }
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const [large, small] = sizes(DEFAULT_MILLIONS)
    if (large === undefined || small === undefined) throw new Error("it takes two sizes: --millions=10,0.1")
    const many = await prepare(await server.createDatabase("bench_summary_many"), large.rows)
    const few = await prepare(await server.createDatabase("bench_summary_few"), small.rows)
    await compare({
      name: "postgres-summary",
      title: `B3: the summary of one customer-month, Postgres ${server.version}`,
      unit: "ms",
      isRate: false,
      contenders: [
        summaries(`Usage.summary, ${large.name} records`, many.summary),
        summaries(`Usage.summary, ${small.name} records`, few.summary),
        summaries(`a daily roll-up by hand, ${large.name} records`, many.byHand),
        { name: `SELECT sum, ${large.name} records`, round: () => timed(many.sum) },
      ],
    })
    await many.close()
    await few.close()
  } finally {
    await server.stop()
  }
}
