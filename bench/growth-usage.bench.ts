/**
 * How the cost of usage grows: batch ingest, and the summary of a customer's month, with a million and with 10
 * million stored records. `--millions=1,10,50` measures more (50 take about 26 GB, and far longer to write).
 *
 * Each size has its own database, so that their rounds alternate. SQL writes the records, for 1,000 customers and the
 * days of a year, and their roll-ups.
 */
import { type Customer, Id, Usage, type UsageRecord } from "@billwright/core"
import { Effect } from "effect"
import type { Client } from "pg"
import { compare } from "./Comparison.ts"
import { connected, fillTables, uuidOf } from "./Fill.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { type Size, sizes } from "./Sizes.ts"
import { median } from "./Statistics.ts"

const DEFAULT_MILLIONS = [1, 10]
const CUSTOMERS = 1_000
const DAYS = 365
const BATCH = 1_000
const BATCHES_A_CALLER = 10
const CALLERS = 2
const RECORDS = BATCH * BATCHES_A_CALLER * CALLERS
const SUMMARIES = 200

/** For the customers $1 and the numbers from $2 to before $3: day after day, customer after customer. */
const rows = `
select 'default', 'live', ($1::uuid[])[1 + n / ${DAYS} % ${CUSTOMERS}] as customer_id, n,
  timestamptz '2025-10-01Z' + n % ${DAYS} * interval '1 day' + n / ${DAYS * CUSTOMERS} % 86400 * interval '1 second' as at
from generate_series($2::integer, $3::integer - 1) as n`

const RECORDS_OF = `
insert into billwright.usage_records
  (account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, idempotency_key, created_at)
select 'default', 'live', r.customer_id, ${uuidOf("0190", "r.n")}, 'api', 'call', r.n % 1000, r.at, 'key-' || r.n, r.at
from (${rows}) as r (account_id, mode, customer_id, n, at)`

const ROLL_UPS_OF = `
insert into billwright.usage_daily (account_id, mode, customer_id, product_id, unit, day, quantity, record_count)
select 'default', 'live', r.customer_id, 'api', 'call', (r.at at time zone 'UTC')::date, sum(r.n % 1000), count(*)
from (${rows}) as r (account_id, mode, customer_id, n, at) group by r.customer_id, 6`

const fill = async (client: Client, customers: ReadonlyArray<string>, size: Size): Promise<void> => {
  console.log(`  writing ${size.name} records`)
  await fillTables(client, ["billwright.usage_records", "billwright.usage_daily"], async () => {
    for (const statement of [RECORDS_OF, ROLL_UPS_OF])
      await client.query(statement, [customers, 0, size.rows])
  })
}

const month = (customerId: Customer.CustomerId) =>
  Effect.flatMap(Usage, (usage) =>
    usage.summary({ customerId, startDate: "2026-03-01", endDate: "2026-03-31" }),
  )

const SUM = `select count(*)::integer as count, sum(quantity)::text as sum from billwright.usage_records
where account_id = 'default' and mode = 'live' and customer_id = $1
  and occurred_at >= '2026-03-01Z' and occurred_at < '2026-04-01Z'`

/** A database of a size. Its summaries were checked. */
const prepare = async (url: string, size: Size) => {
  const ours = Ours.make(url)
  const customers = await ours.run(Ours.createCustomers(CUSTOMERS))
  const uuids = customers.map((id) => Id.toUuid(id))
  await connected(url, async (client) => {
    await fill(client, uuids, size)
    const { recordCount, totalQuantity } = await ours.run(month(customers[0]!))
    const { rows: sums } = await client.query<{ count: number; sum: string | null }>(SUM, [uuids[0]])
    if (recordCount !== sums[0]?.count || String(totalQuantity) !== (sums[0].sum ?? "0")) {
      throw new Error("the totals differ")
    }
  })
  return { size, ours, customers }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

const keyOf = (round: number, caller: number, batch: number, index: number): string =>
  `new-${round}-${caller}-${batch}-${index}`

const ingest = async ({ customers, ours }: Prepared, round: number): Promise<number> => {
  const recordsOf = (caller: number, batch: number): ReadonlyArray<UsageRecord.RecordUsage> =>
    Array.from({ length: BATCH }, (_, index) => ({
      customerId: customers[(index * 7919 + batch * 104_729) % CUSTOMERS]!,
      productId: "api",
      quantity: index,
      unit: "call",
      idempotencyKey: keyOf(round, caller, batch, index),
    }))
  const started = performance.now()
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let batch = 0; batch < BATCHES_A_CALLER; batch++) {
        await ours.run(
          Effect.flatMap(Usage, (usage) => usage.recordBatch({ records: recordsOf(caller, batch) })),
        )
      }
    }),
  )
  return RECORDS / ((performance.now() - started) / 1000)
}

const summarize = async ({ customers, ours }: Prepared): Promise<number> => {
  const times: Array<number> = []
  for (let index = 0; index < SUMMARIES; index++) {
    const started = performance.now()
    await ours.run(month(customers[(index * 7919) % CUSTOMERS]!))
    times.push(performance.now() - started)
  }
  return median(times)
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const prepared: Array<Prepared> = []
    for (const size of sizes(DEFAULT_MILLIONS)) {
      prepared.push(await prepare(await server.createDatabase(`bench_growth_usage_${size.rows}`), size))
    }
    await compare({
      name: "growth-ingest",
      title: `Batch ingest by what is stored: ${RECORDS} records a round, ${BATCH} a call, ${CALLERS} callers, Postgres ${server.version}`,
      unit: "records/s",
      isRate: true,
      contenders: prepared.map((side) => ({
        name: `${side.size.name} records`,
        round: (round) => ingest(side, round),
      })),
    })
    await compare({
      name: "growth-summary",
      title: `The summary of one customer-month by what is stored, ${CUSTOMERS} customers, Postgres ${server.version}`,
      unit: "ms",
      isRate: false,
      contenders: prepared.map((side) => ({
        name: `${side.size.name} records`,
        round: () => summarize(side),
      })),
    })
    for (const { ours } of prepared) await ours.close()
  } finally {
    await server.stop()
  }
}
