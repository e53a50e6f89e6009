/**
 * The summary of a customer's month by a meter with two dimensions of 10 values each, filtered by one value, of 10 million
 * records. Compared with the same at 100,000 records, and with adding up the records, as in B3.
 *
 * SQL writes the records and their daily roll-ups, because that part is not measured. The meter builds its own cells from
 * them. Each figure is the time of one answer: the median of 200 in a row for the library, a single one for the sum.
 */
import { type Customer, Customers, Id, Meters, Usage } from "@billwright/core"
import { Effect } from "effect"
import { Client } from "pg"
import { compare } from "./Comparison.ts"
import { fillTables, ROLL_UP, uuidOf } from "./Fill.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { sizes } from "./Sizes.ts"
import { summaries, timed } from "./Summaries.ts"

const DEFAULT_MILLIONS = [10, 0.1]
const VALUES = 10

/** Records over the 30 days of a month, with rising ids. */
const FILL = `
insert into billwright.usage_records
  (account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, idempotency_key, created_at, dimensions)
select 'default', 'live', $1::uuid, ${uuidOf("0190", "n")}, 'api', 'call', n % 1000,
  timestamptz '2026-11-01Z' + n * interval '30 days' / $2::int, 'key-' || n, now(),
  jsonb_build_object('model', 'model-' || n % ${VALUES}, 'kind', 'kind-' || n / ${VALUES} % ${VALUES})
from generate_series(0, $2::int - 1) as n`

const SUM = `
select sum(quantity)::text as total from billwright.usage_records
where account_id = 'default' and mode = 'live' and customer_id = $1 and voided_at is null
  and occurred_at >= '2026-11-01Z' and occurred_at < '2026-12-01Z' and dimensions ->> 'model' = 'model-3'`

const prepare = async (url: string, records: number) => {
  const ours = Ours.make(url)
  const { id } = await ours.run(
    Effect.flatMap(Customers, (customers) => customers.create({ name: "Ada", email: "ada@example.com" })),
  )
  const client = new Client({ connectionString: url })
  // When something else fails, the server ends first, and this error would hide that failure.
  client.on("error", () => {})
  await client.connect()
  console.log(`  writing ${records.toLocaleString("en-US")} records, and building the meter`)
  await client.query("set statement_timeout = 0")
  await fillTables(client, ["billwright.usage_records", "billwright.usage_daily"], async () => {
    await client.query(FILL, [Id.toUuid(id), records])
    await client.query(ROLL_UP)
  })
  await ours.run(
    Effect.gen(function* () {
      const meters = yield* Meters
      const meter = yield* meters.create({
        key: "tokens",
        productId: "api",
        unit: "call",
        dimensions: ["model", "kind"],
      })
      yield* meters.rebuild(meter.id)
    }),
  )
  const summary = summaryOf(id)
  const sum = async () => (await client.query<{ total: string }>(SUM, [Id.toUuid(id)])).rows[0]!.total
  const { totalQuantity } = await ours.run(summary)
  if (String(totalQuantity) !== (await sum())) throw new Error("the totals differ")
  return {
    summary: () => ours.run(summary),
    sum,
    close: async () => {
      await client.end()
      await ours.close()
    },
  }
}

const summaryOf = (customerId: Customer.CustomerId) =>
  Effect.flatMap(Usage, (usage) =>
    usage.summary({
      customerId,
      meter: "tokens",
      where: { model: ["model-3"] },
      startDate: "2026-11-01",
      endDate: "2026-11-30",
    }),
  )

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const [many, few] = sizes(DEFAULT_MILLIONS)
    if (many === undefined || few === undefined) throw new Error("it takes two sizes: --millions=10,0.1")
    const large = await prepare(await server.createDatabase("bench_meters_many"), many.rows)
    const small = await prepare(await server.createDatabase("bench_meters_few"), few.rows)
    await compare({
      name: "meters-summary",
      title: `The summary of one customer-month filtered by a dimension, Postgres ${server.version}`,
      unit: "ms",
      isRate: false,
      contenders: [
        summaries(`Usage.summary, ${many.name} records`, large.summary),
        summaries(`Usage.summary, ${few.name} records`, small.summary),
        { name: `SELECT sum, ${many.name} records`, round: () => timed(large.sum) },
      ],
    })
    await large.close()
    await small.close()
  } finally {
    await server.stop()
  }
}
