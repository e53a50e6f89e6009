/**
 * The state of the schema in a database.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { digestOf, functions } from "../functions/Functions.ts"
import { RELEASE } from "../Release.ts"
import type { SchemaName } from "../SchemaName.ts"

export interface SchemaState {
  /** How many migrations it has. 0: none. */
  readonly found: number
  /** How many migrations a release must know to work with it. */
  readonly minReader: number
  /** The functions that differ in this release. Empty where a newer release has migrated. */
  readonly outdated: ReadonlyArray<string>
  /** Whether this release or a newer one has migrated. */
  readonly isOfRelease: boolean
  /** Whether a pre-release has migrated, whose migrations were replaced by others before the first release. */
  readonly isOfPreRelease: boolean
  /** A few of the schema's tables, if none of them are Billwright's. */
  readonly foreign: ReadonlyArray<string>
}

/** The most such tables that an error names. */
const MAX_NAMED = 3

const NAMES = functions.map(({ name }) => name)

export const stateOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: SchemaName) {
  const migrations = `"${schema}".schema_migrations`
  // Other tools also keep migrations in a table of this name. Only ours has this column.
  const exists = yield* sql`select 1 from pg_attribute
where attrelid = to_regclass(${migrations}) and attname = 'min_reader'`
  if (exists.length === 0) {
    const foreign = yield* foreignTables(sql, schema)
    const nothing: SchemaState = {
      found: 0,
      minReader: 0,
      outdated: NAMES,
      isOfRelease: false,
      isOfPreRelease: false,
      foreign,
    }
    return nothing
  }
  const rows = yield* sql<{ found: unknown; min_reader: unknown }>`select coalesce(max(id), 0)::text as found,
  coalesce(max(min_reader), 0)::text as min_reader from ${sql.literal(migrations)}`
  const found = Number(rows[0]?.found)
  const ofFunctions = yield* functionsOf(sql, schema)
  const state: SchemaState = {
    found,
    minReader: Number(rows[0]?.min_reader),
    outdated: ofFunctions?.outdated ?? NAMES,
    isOfRelease: ofFunctions?.isOfRelease ?? false,
    // The first migration of a release makes the table of functions. That of the pre-releases did not.
    isOfPreRelease: found > 0 && ofFunctions === undefined,
    foreign: [],
  }
  return state
})

/** The SQL for a version as an array of numbers, which sorts by version. A pre-release counts as its release. */
export const versionOf = (release: string): string =>
  `string_to_array(split_part(${release}, '-', 1), '.')::integer[]`

/** `undefined` when there is no table of functions. */
const functionsOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: SchemaName) {
  const table = `"${schema}".schema_functions`
  const exists = yield* sql`select 1 where to_regclass(${table}) is not null`
  if (exists.length === 0) return undefined
  const rows = yield* sql<{ name: string; digest: string; is_own: string; is_newer: string }>`
select name, digest, (release = ${RELEASE})::text as is_own,
  (${sql.literal(versionOf("release"))} > ${sql.literal(versionOf(`'${RELEASE}'`))})::text as is_newer
from ${sql.literal(table)}`
  if (rows.some((row) => row.is_newer === "true")) return { outdated: [], isOfRelease: true }
  const digests = new Map(rows.map(({ digest, name }) => [name, digest]))
  const outdated = functions.filter(
    (definition) => digests.get(definition.name) !== digestOf(schema, definition),
  )
  const isOfRelease = rows.length === functions.length && rows.every((row) => row.is_own === "true")
  return { outdated: outdated.map(({ name }) => name), isOfRelease }
})

/** Tables, views and sequences in a schema, except those of extensions. */
const foreignTables = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: SchemaName) {
  const rows = yield* sql<{ name: string }>`select relname::text as name from pg_class
where relnamespace = (select oid from pg_namespace where nspname = ${schema})
  and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  and not exists (
    select 1 from pg_depend
    where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
order by relkind <> 'r', relname limit ${MAX_NAMED}`
  return rows.map(({ name }) => name)
})
