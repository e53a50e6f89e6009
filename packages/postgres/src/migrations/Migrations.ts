/**
 * Bringing the schema up to date, and refusing one that this release doesn't fit.
 */
import type { StorageError } from "@billwright/core"
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { withoutStatementTimeout } from "../Database.ts"
import { watchable, whileAlive } from "../Liveness.ts"
import * as SchemaName from "../SchemaName.ts"
import { kindOf, toStorageError } from "../StorageFailure.ts"
import type { Migration } from "./Migration.ts"
import { migration0001 } from "./Migration0001.ts"
import { migration0002 } from "./Migration0002.ts"
import { migration0003 } from "./Migration0003.ts"
import { migration0004 } from "./Migration0004.ts"
import { migration0005 } from "./Migration0005.ts"
import { migration0006 } from "./Migration0006.ts"
import { migration0007 } from "./Migration0007.ts"
import { migration0008 } from "./Migration0008.ts"
import { migration0009 } from "./Migration0009.ts"
import { migration0010 } from "./Migration0010.ts"
import { migration0011 } from "./Migration0011.ts"
import { migration0012 } from "./Migration0012.ts"

/** All migrations, in order. */
export const migrations: ReadonlyArray<Migration> = [
  migration0001,
  migration0002,
  migration0003,
  migration0004,
  migration0005,
  migration0006,
  migration0007,
  migration0008,
  migration0009,
  migration0010,
  migration0011,
  migration0012,
]

/** The newest migration that this release knows, and needs. */
export const latestId = migrations.length

/**
 * The schema in the database is not one that this release can work with: it is missing or too old (migrate it),
 * or it was migrated by a newer release in a way that breaks this one (upgrade this one), or it is somebody else's.
 */
export class IncompatibleSchema extends Schema.TaggedError<IncompatibleSchema>()("IncompatibleSchema", {
  schema: Schema.String,
  /** Migrations that the database has. 0: none. */
  found: Schema.Int,
  /** Migrations that this release knows. */
  known: Schema.Int,
  /** Migrations that a release must know to work with the database. */
  minReader: Schema.Int,
  /** Tables of somebody else's that are in it, a few, where none are Billwright's. */
  foreign: Schema.Array(Schema.String),
}) {
  override get message(): string {
    const { foreign, found, known, minReader, schema } = this
    if (foreign.length > 0) {
      return `the schema "${schema}" holds tables of somebody else's (${foreign.join(", ")}), and Billwright puts its own nowhere beside others: name a schema for it alone, such as "${SchemaName.DEFAULT_SCHEMA}"`
    }
    if (minReader > known) {
      return `the schema "${schema}" was migrated by a newer release of Billwright (${found}), which needs releases that know migration ${minReader}; this one knows ${known}. Upgrade this process`
    }
    const problem =
      found === 0
        ? "has no tables of Billwright yet"
        : `has migration ${found}, and this release needs ${known}`
    const run = `npx @billwright/cli migrate --store postgres --schema ${schema}`
    return `the schema "${schema}" ${problem}. Run \`${run}\` (or with \`--store embedded\`)`
  }
}

/** What the database says of its schema. */
interface SchemaState {
  readonly found: number
  readonly minReader: number
  readonly foreign: ReadonlyArray<string>
}

/** How many tables of somebody else's are named. */
const MAX_NAMED = 3

const OPERATION = "Migrations"

const tableOf = (schema: SchemaName.SchemaName): string => `"${schema}".schema_migrations`

const createTable = (
  schema: SchemaName.SchemaName,
): string => `create table if not exists ${tableOf(schema)} (
  id integer primary key,
  name text not null,
  min_reader integer not null,
  applied_at timestamptz(3) not null default clock_timestamp()
)`

const recordOf = (schema: SchemaName.SchemaName, { id, minReader, name }: Migration): string =>
  `insert into ${tableOf(schema)} (id, name, min_reader) values (${id}, '${name}', ${minReader})`

const stateOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: SchemaName.SchemaName) {
  // Other tools keep migrations in a table of the same name. Only ours has the column.
  const exists = yield* sql`select 1 from pg_attribute
where attrelid = to_regclass(${tableOf(schema)}) and attname = 'min_reader'`
  if (exists.length === 0) {
    const nothing: SchemaState = { found: 0, minReader: 0, foreign: yield* foreignTables(sql, schema) }
    return nothing
  }
  const rows = yield* sql<{ found: unknown; min_reader: unknown }>`select coalesce(max(id), 0)::text as found,
  coalesce(max(min_reader), 0)::text as min_reader from ${sql.literal(tableOf(schema))}`
  const state: SchemaState = {
    found: Number(rows[0]?.found),
    minReader: Number(rows[0]?.min_reader),
    foreign: [],
  }
  return state
})

/** Tables, views and sequences in a schema; those that an extension brought are nobody's. */
const foreignTables = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: SchemaName.SchemaName) {
  const rows = yield* sql<{ name: string }>`select relname::text as name from pg_class
where relnamespace = (select oid from pg_namespace where nspname = ${schema})
  and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  and not exists (
    select 1 from pg_depend
    where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
order by relkind <> 'r', relname limit ${MAX_NAMED}`
  return rows.map(({ name }) => name)
})

const asStorageError = (error: SqlError.SqlError): StorageError =>
  toStorageError(OPERATION, error, kindOf(error) !== "permanent")

const incompatible = (schema: SchemaName.SchemaName, state: SchemaState) =>
  new IncompatibleSchema({ schema, known: latestId, ...state })

/**
 * Applies what is missing, each migration in a transaction of its own, and gives the names of those applied.
 *
 * Safe to run in many processes at once: an advisory lock lets one at a time, the others find the work done.
 * Needs the right to create the schema, unless it exists, and to create tables and functions in it. Takes as long as
 * it takes, as long as the server answers others at all.
 */
export const run = (options: { readonly schema?: string } = {}) =>
  Effect.flatMap(Effect.all([SqlClient.SqlClient, watchable]), ([sql, server]) =>
    whileAlive(server, OPERATION, apply(sql, SchemaName.make(options.schema))),
  ).pipe(Effect.withSpan("Migrations.run"))

const apply = (sql: SqlClient.SqlClient, schema: SchemaName.SchemaName) =>
  Effect.gen(function* () {
    const applied: Array<string> = []
    const lock = sql`select pg_advisory_xact_lock(hashtextextended(${`billwright migrations of ${schema}`}, 0))`

    const prepare = Effect.gen(function* () {
      yield* lock
      const state = yield* stateOf(sql, schema)
      if (state.foreign.length > 0) return yield* incompatible(schema, state)
      // Asked first, because \`create schema if not exists\` wants the right to create it even when it exists.
      const rows = yield* sql`select 1 from pg_namespace where nspname = ${schema}`
      if (rows.length === 0) yield* sql.unsafe(`create schema "${schema}"`)
      yield* sql.unsafe(createTable(schema))
    })
    const before = yield* stateOf(sql, schema)
    if (before.found === 0) yield* withoutStatementTimeout(sql, prepare)

    for (const migration of migrations) {
      const step = Effect.gen(function* () {
        yield* lock
        const state = yield* stateOf(sql, schema)
        if (state.minReader > latestId) return yield* incompatible(schema, state)
        if (state.found >= migration.id) return false
        for (const statement of migration.statements(schema)) yield* sql.unsafe(statement)
        yield* sql.unsafe(recordOf(schema, migration))
        return true
      })
      if (before.found >= migration.id) continue
      if (yield* withoutStatementTimeout(sql, step)) applied.push(migration.name)
    }
    yield* checkState(sql, schema)
    return applied as ReadonlyArray<string>
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(asStorageError(error))))

/** Fails unless the database has what this release needs and nothing that breaks it. Changes nothing. */
export const check = (
  options: { readonly schema?: string } = {},
): Effect.Effect<void, IncompatibleSchema | StorageError, SqlClient.SqlClient> =>
  Effect.flatMap(Effect.all([SqlClient.SqlClient, watchable]), ([sql, server]) =>
    whileAlive(server, OPERATION, checkState(sql, SchemaName.make(options.schema))),
  )

const checkState = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: SchemaName.SchemaName) {
  const state = yield* Effect.mapError(stateOf(sql, schema), asStorageError)
  if (state.found < latestId || state.minReader > latestId) return yield* incompatible(schema, state)
  yield* Effect.mapError(warnOfFirstSchema(sql, schema), asStorageError)
  yield* Effect.mapError(warnOfReadOnly(sql), asStorageError)
})

/** Reading alone may be what somebody wants, so it is no error. */
const warnOfReadOnly = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [row] = yield* sql<{ standby: string }>`select pg_is_in_recovery()::text as standby
where current_setting('transaction_read_only') = 'on'`
  if (row === undefined) return
  const why = row.standby === "true" ? "it is a standby" : "default_transaction_read_only is on"
  yield* Effect.logWarning(
    `the database is read-only (${why}): every call that writes will fail, and no webhooks are sent. Connect to the primary to do more than read`,
  )
})

/**
 * Postgres looks for names without a schema in the one that is called like the user first. We name our own always,
 * but a host's `customers` would be ours.
 */
const warnOfFirstSchema = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: SchemaName.SchemaName,
) {
  const [row] = yield* sql<{ user: string }>`select current_user::text as user
where current_user = ${schema} and current_schema() = ${schema}`
  if (row === undefined) return
  yield* Effect.logWarning(
    `the database user "${schema}" is called like the schema of Billwright, so in its sessions names without a schema mean Billwright's tables: your own "customers" would be its. Use a user of another name, or: alter role "${schema}" set search_path = public`,
  )
})

/**
 * The SQL that `run` would execute on a database that has the first `after` migrations (default: none), for
 * teams that run DDL themselves. One transaction for each migration; run it with `psql -v ON_ERROR_STOP=1`.
 */
export const print = (options: { readonly schema?: string; readonly after?: number } = {}): string => {
  const schema = SchemaName.make(options.schema)
  const after = options.after ?? 0
  const missing = migrations.filter(({ id }) => id > after)
  const prepare = after > 0 ? [] : [`create schema if not exists "${schema}"`, createTable(schema)]
  return missing
    .map((migration, index) => {
      const statements = [
        ...(index === 0 ? prepare : []),
        ...migration.statements(schema),
        recordOf(schema, migration),
      ]
      const number = String(migration.id).padStart(4, "0")
      return `-- ${number} ${migration.name}\nbegin;\n\n${statements.map((text) => `${text};\n`).join("\n")}\ncommit;\n`
    })
    .join("\n")
}
