/**
 * Whether a demo may fill a schema: only if nothing is in it. It is asked by SQL, so that it can be asked of a schema of
 * any release, and before anything is written.
 */
import { StorageError } from "@billwright/core"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Store from "../Store.ts"

/** The tables that also have rows where a server has run, and nobody has used it yet. */
const OF_A_START: ReadonlySet<string> = new Set([
  "api_keys",
  "audit_records",
  "idempotency_keys",
  "meter_changes",
  "schema_functions",
  "schema_migrations",
  "webhook_workers",
])

/** The most tables that the error names. */
const MAX_NAMED = 3

/** Each table of the schema with its name for SQL. None if there is no such schema. */
const tablesOf = (sql: SqlClient.SqlClient, schema: string) =>
  sql<{ name: string; place: string }>`
select relname::text as name, format('%I.%I', nspname, relname) as place
from pg_class join pg_namespace on pg_namespace.oid = relnamespace
where nspname = ${schema} and relkind in ('r', 'p') order by relname`

/** The names of the tables in use, of all accounts and modes. */
const usedTables = (
  schema: string,
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const tables = (yield* tablesOf(sql, schema)).filter(({ name }) => !OF_A_START.has(name))
        // With row-level security (docs/decisions/0039), a transaction sees the rows of those whom it names.
        yield* sql`select set_config('billwright.tenant', '*', true)`
        const used = yield* Effect.filter(tables, ({ place }) =>
          Effect.map(sql.unsafe(`select 1 from ${place} limit 1`), (rows) => rows.length > 0),
        )
        return used.map(({ name }) => name)
      }),
    ),
  )

const asStorageError = (cause: SqlError.SqlError) =>
  new StorageError({ operation: "billwright demo", retryable: false, cause })

/** Fails if the schema is in use. A demo takes what is due in the store for its own, so nothing else may be in it. */
export const requireEmpty = Effect.fnUntraced(function* (schema: string) {
  const used = yield* Effect.mapError(usedTables(schema), asStorageError)
  if (used.length === 0) return
  const more = used.length > MAX_NAMED ? " and more" : ""
  return yield* new Store.Misconfigured({
    message: `the schema ${schema} has ${used.slice(0, MAX_NAMED).join(", ")}${more} already, and the demo needs an empty one: give a new directory by --data-dir, or a new schema by --schema`,
  })
})
