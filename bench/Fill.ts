/**
 * Filling tables by SQL, for benchmarks of what is stored: how it gets there is not what they measure.
 */
import { Client } from "pg"

/** Runs with a connection whose statements may take as long as they take. */
export const connected = async <A>(url: string, work: (client: Client) => Promise<A>): Promise<A> => {
  const client = new Client({ connectionString: url })
  // When something else fails, the server goes first; that is not the failure to report.
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
  /** Of a primary key. */
  readonly constraint: string | null
  readonly definition: string
}

/** Fills tables without their indexes and builds these afterwards, which takes a fraction of the time. */
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

/** SQL of the id of a row, by its number: rising, as ids are. `prefix` is the first 4 digits. */
export const uuidOf = (prefix: string, number: string): string =>
  `('${prefix}' || lpad(to_hex(${number}), 8, '0') || '70008000000000000000')::uuid`
