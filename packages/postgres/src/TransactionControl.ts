/**
 * BEGIN, COMMIT, ROLLBACK and savepoints that end although nobody answers.
 *
 * Effect runs them where nothing can be interrupted, so that no deadline of a caller ends them. One that is swallowed on
 * its way, by a network or a proxy that keeps the connection, would hold its connection until the system gives the
 * connection up: up to a quarter of an hour, and for ever behind a proxy. A pool has only so many.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { answeredWithin } from "./Deadline.ts"

type Connection = SqlConnection.Connection

/** How long one may take. Longer than the deadline of the storage: after that nobody waits for it any more. */
export const CONTROL_MILLIS = 5_000

/**
 * Ends it after so long as a failure of the connection, which is interrupted and must not be used again: it may
 * still be carried out.
 */
export const bounded = <A>(
  control: Effect.Effect<A, SqlError.SqlError>,
  millis: number = CONTROL_MILLIS,
): Effect.Effect<A, SqlError.SqlError> =>
  answeredWithin(Effect.interruptible(control), millis, () => {
    const cause = new Error(`Postgres did not answer within ${millis} ms`)
    return new SqlError.SqlError({
      reason: new SqlError.ConnectionError({ cause, message: cause.message, operation: "transaction" }),
    })
  })

/** Postgres answers COMMIT of a failed transaction with ROLLBACK, and drivers don't call that an error. */
export const commit = (connection: Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) => {
    if ((result as { readonly command?: unknown }).command !== "ROLLBACK") return Effect.void
    return rolledBack
  })

/** A transaction that can't be committed any more. */
export const rolledBack = Effect.suspend(() => {
  const cause = new Error("COMMIT rolled back a failed transaction")
  return Effect.fail(new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause }) }))
})

/**
 * The same client, whose transactions begin and end in time. A connection on which one did not is closed by its pool,
 * as a statement is open on it.
 */
export const withBoundedTransactions = (client: PgClient.PgClient, millis: number): PgClient.PgClient => {
  /** Where a savepoint was not answered in time, which may be there, or gone, all the same. */
  const late = new WeakSet<Connection>()
  const control = (connection: Connection, statement: string) =>
    bounded(connection.execute(statement, [], undefined), millis).pipe(
      Effect.tapError(() => Effect.sync(() => late.add(connection))),
    )
  const savepoint = (id: number) => `billwright_${id}`
  const withTransaction = SqlClient.makeWithTransaction({
    transactionService: client.transactionService,
    spanAttributes: [["db.system.name", "postgresql"]],
    acquireConnection: (restore) => restore(client.reserve),
    begin: (connection, statement) => control(connection, statement ?? "BEGIN"),
    commit: (connection) =>
      late.has(connection)
        ? Effect.andThen(control(connection, "ROLLBACK"), rolledBack)
        : bounded(commit(connection), millis),
    rollback: (connection) => control(connection, "ROLLBACK"),
    savepoint: (connection, id) => control(connection, `SAVEPOINT ${savepoint(id)}`),
    releaseSavepoint: (connection, id) => control(connection, `RELEASE SAVEPOINT ${savepoint(id)}`),
    rollbackSavepoint: (connection, id) => control(connection, `ROLLBACK TO SAVEPOINT ${savepoint(id)}`),
  })
  return Object.assign(client, { withTransaction })
}
