/**
 * Fills tables by SQL, for benchmarks of stored data: they don't measure how the data got there.
 */
import { Client } from "pg"

/** Runs a function with a connection whose statements have no time limit. */
export const connected = async <A>(url: string, work: (client: Client) => Promise<A>): Promise<A> => {
  const client = new Client({ connectionString: url })
  // When something else fails, the server ends first, and this error would hide that failure.
  client.on("error", () => {})
  await client.connect()
  try {
    await client.query("set statement_timeout = 0")
    await client.query("set maintenance_work_mem = '1GB'")
    return await work(client)
  } finally {
    await client.end()
  }
}

const INDEXES = `
select i.indexrelid::regclass::text as index, i.indrelid::regclass::text as table, c.conname as constraint,
  coalesce(pg_get_constraintdef(c.oid), pg_get_indexdef(i.indexrelid)) as definition
from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype = 'p'
where i.indrelid = any ($1::text[]::regclass[]) order by i.indisprimary, i.indexrelid`

interface Index {
  readonly index: string
  readonly table: string
  /** The primary key that the index belongs to, if any. */
  readonly constraint: string | null
  readonly definition: string
}

/** Fills tables without their indexes, and builds these afterwards, which takes much less time. */
export const fillTables = async (
  client: Client,
  tables: ReadonlyArray<string>,
  fill: () => Promise<void>,
): Promise<void> => {
  const { rows: indexes } = await client.query<Index>(INDEXES, [tables])
  for (const { constraint, index, table } of indexes) {
    await client.query(
      constraint === null ? `drop index ${index}` : `alter table ${table} drop constraint ${constraint}`,
    )
  }
  await fill()
  for (const { constraint, definition, table } of indexes) {
    await client.query(
      constraint === null ? definition : `alter table ${table} add constraint ${constraint} ${definition}`,
    )
  }
  for (const table of tables) await client.query(`vacuum (analyze) ${table}`)
  await client.query("checkpoint")
}

/** The SQL for a row's id by its number. Ids rise with the number. `prefix` is the first 4 digits. */
export const uuidOf = (prefix: string, number: string): string =>
  `('${prefix}' || lpad(to_hex(${number}), 8, '0') || '70008000000000000000')::uuid`

/** Writes the daily roll-ups of all records. */
export const ROLL_UP = `
insert into billwright.usage_daily (account_id, mode, customer_id, product_id, unit, day, quantity, record_count)
select account_id, mode, customer_id, product_id, unit, (occurred_at at time zone 'UTC')::date, sum(quantity), count(*)
from billwright.usage_records group by 1, 2, 3, 4, 5, 6`
