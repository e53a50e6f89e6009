/**
 * The database of an embedded server, and the user that the application connects as.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Effect, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { ownership } from "../roles/Roles.ts"

export const DATABASE = "billwright"

/**
 * It owns the database, and is no superuser. Its name must differ from our schema's: Postgres looks for unqualified names
 * in the schema named like the user.
 */
export const USER = "application"

/** Every schema but those of Postgres itself. */
const SCHEMAS =
  "select oid from pg_catalog.pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'"

interface SetUp {
  readonly superuser: string
  /** The password of the application's user. It has no character that SQL would need quoted. */
  readonly password: string
}

type Connect = (database: string) => Effect.Effect<PgConnection.PgConnection, SqlError.SqlError, Scope.Scope>

/**
 * Makes the user and the database, unless they are there. In a directory of an earlier release the superuser owned
 * everything: what it owns becomes the application's.
 */
export const setUp = (connect: Connect, options: SetUp): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    yield* Effect.scoped(
      Effect.flatMap(connect("postgres"), (connection) => makeDatabase(connection, options)),
    )
    yield* Effect.scoped(
      Effect.flatMap(connect(DATABASE), (connection) =>
        connection.query(ownership(SCHEMAS, USER, options.superuser)),
      ),
    )
  })

const makeDatabase = Effect.fnUntraced(function* (
  connection: PgConnection.PgConnection,
  { password, superuser }: SetUp,
) {
  const roles = yield* connection.query("select 1 from pg_roles where rolname = $1", [USER])
  if (roles.rows.length === 0) yield* connection.query(`create role ${USER}`)
  yield* connection.query(
    `alter role ${USER} login password '${password}' nosuperuser nocreatedb nocreaterole noreplication nobypassrls`,
  )
  const { rows } = yield* connection.query(
    "select pg_get_userbyid(datdba)::text as owner from pg_database where datname = $1",
    [DATABASE],
  )
  if (rows.length === 0) yield* connection.query(`create database ${DATABASE} owner ${USER}`)
  else if (rows[0]!["owner"] === superuser)
    yield* connection.query(`alter database ${DATABASE} owner to ${USER}`)
})
