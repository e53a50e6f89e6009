/**
 * Brings the schema up to date, and refuses a schema that this release can't work with.
 *
 * Migrations change the tables. Each runs once and is frozen. Functions are written again whenever their text differs
 * from the text that was last written.
 */
import type { StorageError } from "@billwright/core"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { withoutStatementTimeout } from "../Database.ts"
import { digestOf, functions } from "../functions/Functions.ts"
import { watchable, whileAlive } from "../Liveness.ts"
import { RELEASE } from "../Release.ts"
import { problemOf, type RoleNames, roleNames } from "../roles/RoleNames.ts"
import * as Roles from "../roles/Roles.ts"
import * as RowSecurity from "../roles/RowSecurity.ts"
import * as SchemaName from "../SchemaName.ts"
import { kindOf, toStorageError } from "../StorageFailure.ts"
import { isAsked } from "../TenantScope.ts"
import { IncompatibleSchema } from "./IncompatibleSchema.ts"
import { LOCK_MILLIS, Patience, untilUnlocked } from "./LockWaits.ts"
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
import { migration0013 } from "./Migration0013.ts"
import { migration0014 } from "./Migration0014.ts"
import { migration0015 } from "./Migration0015.ts"
import { migration0016 } from "./Migration0016.ts"
import { migration0017 } from "./Migration0017.ts"
import { migration0018 } from "./Migration0018.ts"
import { migration0019 } from "./Migration0019.ts"
import { migration0020 } from "./Migration0020.ts"
import { migration0021 } from "./Migration0021.ts"
import { migration0022 } from "./Migration0022.ts"
import { migration0023 } from "./Migration0023.ts"
import { migration0024 } from "./Migration0024.ts"
import { migration0025 } from "./Migration0025.ts"
import { migration0026 } from "./Migration0026.ts"
import { migration0027 } from "./Migration0027.ts"
import { migration0028 } from "./Migration0028.ts"
import { migration0029 } from "./Migration0029.ts"
import { migration0030 } from "./Migration0030.ts"
import { migration0031 } from "./Migration0031.ts"
import { migration0032 } from "./Migration0032.ts"
import { migration0033 } from "./Migration0033.ts"
import { migration0034 } from "./Migration0034.ts"
import { migration0035 } from "./Migration0035.ts"
import { migration0036 } from "./Migration0036.ts"
import { migration0037 } from "./Migration0037.ts"
import { migration0038 } from "./Migration0038.ts"
import { migration0039 } from "./Migration0039.ts"
import { migration0040 } from "./Migration0040.ts"
import { migration0041 } from "./Migration0041.ts"
import { migration0042 } from "./Migration0042.ts"
import { migration0043 } from "./Migration0043.ts"
import { migration0044 } from "./Migration0044.ts"
import { migration0045 } from "./Migration0045.ts"
import { migration0046 } from "./Migration0046.ts"
import { migration0047 } from "./Migration0047.ts"
import { migration0048 } from "./Migration0048.ts"
import { migration0049 } from "./Migration0049.ts"
import { migration0050 } from "./Migration0050.ts"
import { migration0051 } from "./Migration0051.ts"
import { migration0052 } from "./Migration0052.ts"
import { migration0053 } from "./Migration0053.ts"
import { migration0054 } from "./Migration0054.ts"
import { migration0055 } from "./Migration0055.ts"
import { migration0056 } from "./Migration0056.ts"
import { migration0057 } from "./Migration0057.ts"
import { migration0058 } from "./Migration0058.ts"
import { migration0059 } from "./Migration0059.ts"
import { migration0060 } from "./Migration0060.ts"
import { migration0061 } from "./Migration0061.ts"
import { migration0062 } from "./Migration0062.ts"
import { migration0063 } from "./Migration0063.ts"
import { migration0064 } from "./Migration0064.ts"
import { type SchemaState, stateOf, versionOf } from "./SchemaState.ts"

export { IncompatibleSchema }

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
  migration0013,
  migration0014,
  migration0015,
  migration0016,
  migration0017,
  migration0018,
  migration0019,
  migration0020,
  migration0021,
  migration0022,
  migration0023,
  migration0024,
  migration0025,
  migration0026,
  migration0027,
  migration0028,
  migration0029,
  migration0030,
  migration0031,
  migration0032,
  migration0033,
  migration0034,
  migration0035,
  migration0036,
  migration0037,
  migration0038,
  migration0039,
  migration0040,
  migration0041,
  migration0042,
  migration0043,
  migration0044,
  migration0045,
  migration0046,
  migration0047,
  migration0048,
  migration0049,
  migration0050,
  migration0051,
  migration0052,
  migration0053,
  migration0054,
  migration0055,
  migration0056,
  migration0057,
  migration0058,
  migration0059,
  migration0060,
  migration0061,
  migration0062,
  migration0063,
  migration0064,
]

/** The newest migration of this release, which it also requires. */
export const latestId = migrations.length

/** The result of a run. */
export interface Applied {
  /** The names of the migrations that ran. */
  readonly migrations: ReadonlyArray<string>
  /** The names of the functions that were written: those that are new or have changed. */
  readonly functions: ReadonlyArray<string>
  /** The roles of the schema, if this run was asked for them. */
  readonly roles?: RoleNames
}

/** Options of a run. */
export interface RunOptions {
  /** The Postgres schema. Default `billwright`. */
  readonly schema?: string
  /**
   * Whether to make the roles of the schema, give the schema to its owner, and give each role exactly its rights. Needs
   * the right to make roles. Later runs keep what is new to that, without this option. Default false.
   */
  readonly roles?: boolean
  /**
   * Whether Postgres shows each transaction the rows of its tenant only. Needs `roles`. Later runs keep it as it is.
   * Processes that have started before don't know of it: they see no rows, so stop them first. Default: as it is.
   */
  readonly rowLevelSecurity?: boolean
}

/** What a run is asked for. Throws for row-level security without roles, because that is a mistake in the program. */
const requested = ({ roles = false, rowLevelSecurity }: RunOptions) => {
  if (rowLevelSecurity !== undefined && !roles) throw new Error("row-level security needs roles")
  return { roles, rowLevelSecurity }
}

/** The statements that give the roles their rights, and keep row-level security as it is or is asked for. */
const rightsStatements = (
  schema: SchemaName.SchemaName,
  isOn: boolean,
  asked: boolean | undefined,
): ReadonlyArray<string> => [
  ...Roles.grantStatements(schema),
  ...((asked ?? isOn) ? [RowSecurity.onStatement(schema)] : []),
  ...(asked === false ? [RowSecurity.offStatement(schema)] : []),
]

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

/** The statements of a migration, and the one that records that it ran. */
const statementsOf = (schema: SchemaName.SchemaName, migration: Migration): ReadonlyArray<string> => [
  ...migration.statements(schema),
  `insert into ${tableOf(schema)} (id, name, min_reader) values (${migration.id}, '${migration.name}', ${migration.minReader})`,
]

/** The statements that write the named functions, and record all functions of this release. */
const functionStatements = (
  schema: SchemaName.SchemaName,
  names: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const rows = functions.map((each) => `('${each.name}', '${digestOf(schema, each)}', '${RELEASE}')`)
  return [
    ...functions.filter(({ name }) => names.includes(name)).flatMap((each) => each.statements(schema)),
    `delete from "${schema}".schema_functions`,
    `insert into "${schema}".schema_functions (name, digest, release) values\n  ${rows.join(",\n  ")}`,
  ]
}

const asStorageError = (error: SqlError.SqlError): StorageError =>
  toStorageError(OPERATION, error, kindOf(error) !== "permanent")

const incompatible = (
  schema: SchemaName.SchemaName,
  { foreign, found, isOfPreRelease, minReader, outdated }: SchemaState,
) => new IncompatibleSchema({ schema, known: latestId, foreign, found, isOfPreRelease, minReader, outdated })

/**
 * Runs the missing migrations, then writes the functions that have changed, in one transaction. If a newer release
 * has migrated, its functions stay as they are. In a schema that has roles it works as the owner, and then gives each role
 * its rights again.
 *
 * Safe to run in many processes at once: an advisory lock lets one process at a time in, and the others find nothing
 * left to do. Needs the right to create the schema, unless it exists, and to create tables and functions in it. Has
 * no time limit, as long as the server answers other queries. But it waits only 2 seconds for a lock on a table, because
 * others wait behind it. Then it undoes everything and tries again 5 seconds later, for 10 minutes.
 */
export const run = (options: RunOptions = {}) =>
  Effect.flatMap(Effect.all([SqlClient.SqlClient, watchable]), ([sql, server]) =>
    whileAlive(server, OPERATION, apply(sql, SchemaName.make(options.schema), requested(options))),
  ).pipe(Effect.withSpan("Migrations.run"))

const nothing: Applied = { migrations: [], functions: [] }

const isCurrent = ({ found, isOfRelease, outdated }: SchemaState): boolean =>
  found >= latestId && isOfRelease && outdated.length === 0

type Requested = ReturnType<typeof requested>

const apply = (sql: SqlClient.SqlClient, schema: SchemaName.SchemaName, asked: Requested) =>
  Effect.gen(function* () {
    const isDone = !asked.roles && isCurrent(yield* stateOf(sql, schema))
    const transaction = withoutStatementTimeout(sql, applyLocked(sql, schema, asked))
    const applied = isDone ? nothing : yield* untilUnlocked(OPERATION, transaction)
    yield* checkState(sql, schema)
    return asked.roles ? { ...applied, roles: roleNames(schema) } : applied
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(asStorageError(error))))

const applyLocked = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: SchemaName.SchemaName,
  { roles, rowLevelSecurity }: Requested,
) {
  yield* sql`select pg_advisory_xact_lock(hashtextextended(${`billwright migrations of ${schema}`}, 0))`
  // Only now, because the lock above may take as long as another process migrates.
  yield* sql`select set_config('lock_timeout', ${String((yield* Patience).lockMillis)}, true)`
  const state = yield* stateOf(sql, schema)
  if (!roles && isCurrent(state)) return nothing
  if (state.foreign.length > 0 || state.isOfPreRelease || state.minReader > latestId)
    return yield* incompatible(schema, state)
  // A newer release has other tables, and so other rights.
  if (state.found > latestId) return yield* incompatible(schema, state)
  if (state.found === 0) yield* makeSchema(sql, schema)
  const execute = Effect.forEach((statement: string) => sql.unsafe(statement), { discard: true })
  if (roles) yield* execute(Roles.makingStatements(schema))
  const found = yield* asOwner(sql, schema)
  const missing = migrations.slice(state.found)
  yield* execute([
    ...missing.flatMap((migration) => statementsOf(schema, migration)),
    ...(state.isOfRelease && state.outdated.length === 0 ? [] : functionStatements(schema, state.outdated)),
    ...(found === undefined ? [] : rightsStatements(schema, found.rowLevelSecurity, rowLevelSecurity)),
  ])
  const applied: Applied = { migrations: missing.map(({ name }) => name), functions: state.outdated }
  return applied
})

/** In a schema with roles, works as its owner until the end of the transaction. The owner sees the rows of all tenants. */
const asOwner = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: SchemaName.SchemaName) {
  const owner = yield* Roles.ownerOf(sql, schema)
  if (owner === undefined) return undefined
  yield* sql.unsafe(`set local role ${owner}`)
  return { rowLevelSecurity: yield* isAsked(sql, schema) }
})

const makeSchema = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: SchemaName.SchemaName) {
  // Checked first, because `create schema if not exists` needs the right to create it even when it exists.
  const rows = yield* sql`select 1 from pg_namespace where nspname = ${schema}`
  if (rows.length === 0) yield* sql.unsafe(`create schema "${schema}"`)
  // The owner may have made the schema before.
  const owner = yield* Roles.ownerOf(sql, schema)
  if (owner !== undefined) yield* sql.unsafe(`set local role ${owner}`)
  yield* sql.unsafe(createTable(schema))
  yield* sql`reset role`
})

/** Why a schema can't have roles, in a sentence: its name. `undefined` if it can. */
export const problemOfRoles = (schema: string): string | undefined => problemOf(SchemaName.make(schema))

/** Fails unless the database has what this release needs, and nothing that breaks it. Changes nothing. */
export const check = (
  options: { readonly schema?: string } = {},
): Effect.Effect<void, IncompatibleSchema | StorageError, SqlClient.SqlClient> =>
  Effect.flatMap(Effect.all([SqlClient.SqlClient, watchable]), ([sql, server]) =>
    whileAlive(server, OPERATION, checkState(sql, SchemaName.make(options.schema))),
  )

const checkState = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: SchemaName.SchemaName) {
  const state = yield* Effect.mapError(stateOf(sql, schema), asStorageError)
  if (state.found < latestId || state.minReader > latestId || state.outdated.length > 0) {
    return yield* incompatible(schema, state)
  }
  yield* Effect.mapError(warnOfFirstSchema(sql, schema), asStorageError)
  yield* Effect.mapError(warnOfReadOnly(sql), asStorageError)
})

/** Not an error, because reading may be all that somebody wants. */
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
 * Postgres looks for unqualified names first in the schema that is named like the user. Our statements always qualify
 * names, but a host's unqualified `customers` would be our table.
 */
const warnOfFirstSchema = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: SchemaName.SchemaName,
) {
  const [row] = yield* sql<{ user: string }>`select current_user::text as user
where current_user = ${schema} and current_schema() = ${schema}`
  if (row === undefined) return
  yield* Effect.logWarning(
    `the database user "${schema}" has the same name as Billwright's schema. So in its sessions table names without a schema mean Billwright's tables: "customers" would be Billwright's, not yours. Use a user with another name, or: alter role "${schema}" set search_path = public`,
  )
})

/** Refuses to overwrite functions of a newer release. */
const refuseNewer = (schema: SchemaName.SchemaName): string => `do $$
begin
  if exists (select from "${schema}".schema_functions where ${versionOf("release")} > ${versionOf(`'${RELEASE}'`)}) then
    raise exception 'the functions of the schema ${schema} are those of a release newer than ${RELEASE}';
  end if;
end
$$`

/** A statement that waits for a lock keeps others waiting behind it, so it fails instead. */
const WAIT_SHORTLY = `-- If this fails with "canceling statement due to lock timeout", nothing has changed. Run all of it again,
-- when the other transactions that use these tables have ended. pg_stat_activity shows them.
set local lock_timeout = '${LOCK_MILLIS}ms';`

/**
 * The SQL that `run` would execute on a database that has the first `after` migrations (default: none), for teams
 * that run DDL themselves. It always contains all functions. It is one transaction; run it with `psql -v
 * ON_ERROR_STOP=1`. It waits only 2 seconds for a lock. When it fails because of that, nothing has changed: run it again.
 */
export const print = (options: RunOptions & { readonly after?: number } = {}): string => {
  const schema = SchemaName.make(options.schema)
  const after = options.after ?? 0
  const { roles, rowLevelSecurity } = requested(options)
  const part = (title: string, statements: ReadonlyArray<string>): string =>
    `-- ${title}\n\n${statements.map((text) => `${text};\n`).join("\n")}`
  const names = functions.map(({ name }) => name)
  return [
    "begin;\n",
    `${WAIT_SHORTLY}\n`,
    // Whoever runs it may not be the owner itself.
    `${RowSecurity.everyTenant};\n`,
    ...(after > 0 ? [] : [part("schema", [`create schema if not exists "${schema}"`, createTable(schema)])]),
    ...migrations
      .slice(after)
      .map((migration) =>
        part(`${String(migration.id).padStart(4, "0")} ${migration.name}`, statementsOf(schema, migration)),
      ),
    part("functions", [refuseNewer(schema), ...functionStatements(schema, names)]),
    ...(roles ? [part("roles", [...Roles.makingStatements(schema), ...Roles.grantStatements(schema)])] : []),
    ...(rowLevelSecurity === undefined
      ? []
      : [
          part("row-level security", [
            rowLevelSecurity ? RowSecurity.onStatement(schema) : RowSecurity.offStatement(schema),
          ]),
        ]),
    "commit;\n",
  ].join("\n")
}
