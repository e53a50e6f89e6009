/**
 * Many customers that are like one that the library made: its rows, with other ids in each column and document. Calls for
 * each would take minutes.
 */
import { Id } from "@billwright/core"
import type { Client } from "pg"

/** The tables in which the customer has rows, those first that others refer to. */
const TABLES = ["customers", "billing_subscriptions", "billing_periods", "billing_due", "events"] as const
/** Most copies of one statement. */
const PAGE = 1_000

/** Ids are counted up from that of the original, so that copies have the order in which they would have been made. */
const countedFrom = (uuid: string, count: number): string => {
  const tail = (Number.parseInt(uuid.slice(-12), 16) + count) % 2 ** 48
  return `${uuid.slice(0, -12)}${tail.toString(16).padStart(12, "0")}`
}

/** The columns of a table that are written. */
const columnsOf = async (client: Client, table: string): Promise<ReadonlyArray<string>> => {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [`billwright.${table}`],
  )
  return rows.map(({ name }) => name)
}

interface Original {
  readonly table: string
  readonly columns: string
  /** Its rows, as the text of a JSON array. */
  readonly rows: string
}

const originalOf = async (client: Client, table: string): Promise<Original> => {
  const columns = (await columnsOf(client, table)).join(", ")
  const { rows } = await client.query<{ rows: string }>(
    `select coalesce(json_agg(to_jsonb(t)), '[]')::text as rows from (select ${columns} from billwright.${table}) as t`,
  )
  return { table, columns, rows: rows[0]!.rows }
}

/** The ids of rows: UUIDs in columns, and the same with a prefix in documents. */
const IDS = [
  ["customers", "cus"],
  ["billing_subscriptions", "sub"],
  ["events", "evt"],
] as const

const idsOf = async (client: Client): Promise<ReadonlyArray<readonly [prefix: string, uuid: string]>> => {
  const all = []
  for (const [table, prefix] of IDS) {
    const { rows } = await client.query<{ id: string }>(`select id from billwright.${table}`)
    all.push(...rows.map(({ id }) => [prefix, id] as const))
  }
  return all
}

/** Copies the only customer with its subscription. */
export const copyCustomer = async (client: Client, copies: number): Promise<void> => {
  const ids = await idsOf(client)
  const originals: Array<Original> = []
  for (const table of TABLES) originals.push(await originalOf(client, table))
  const copyOf = ({ rows }: Original, count: number): string =>
    ids.reduce((text, [prefix, uuid]) => {
      // Each has some ids for itself, as events of a customer are made one after another.
      const other = countedFrom(uuid, count * ids.length)
      return text.replaceAll(uuid, other).replaceAll(Id.fromUuid(prefix, uuid), Id.fromUuid(prefix, other))
    }, rows)
  for (let from = 1; from <= copies; from += PAGE) {
    const counts = Array.from({ length: Math.min(PAGE, copies - from + 1) }, (_, index) => from + index)
    for (const original of originals) {
      const { columns, table } = original
      const all = counts.flatMap((count) => JSON.parse(copyOf(original, count)) as ReadonlyArray<object>)
      await client.query(
        `insert into billwright.${table} (${columns})
select ${columns} from jsonb_populate_recordset(null::billwright.${table}, $1::text::jsonb)`,
        [JSON.stringify(all)],
      )
    }
  }
  await client.query("analyze")
}
