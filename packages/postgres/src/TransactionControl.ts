/**
 * BEGIN, COMMIT, ROLLBACK and savepoints with a time limit.
 *
 * Effect runs these uninterruptibly, so no deadline of a caller ends them. If a network or proxy keeps the connection
 * open but drops the statement, it would hold its connection until the operating system closes it. That takes up to a
 * quarter of an hour, and behind a proxy it never happens. A pool has few connections.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { answeredWithin } from "./Deadline.ts"

type Connection = SqlConnection.Connection

/**
 * The time limit of one of them. It is longer than the storage's deadline, after which no caller is waiting any more.
 */
export const CONTROL_MILLIS = 5_000

/**
 * Limits its time. After that it fails as a failure of the connection and is interrupted. The connection must not be
 * used again, because the statement may still be carried out.
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

/** Postgres answers COMMIT of a failed transaction with ROLLBACK, which drivers don't report as an error. */
export const commit = (connection: Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) => {
    if ((result as { readonly command?: unknown }).command !== "ROLLBACK") return Effect.void
    return rolledBack
  })

/** The failure of COMMIT in a transaction that can't be committed any more. */
export const rolledBack = Effect.suspend(() => {
  const cause = new Error("COMMIT rolled back a failed transaction")
  return Effect.fail(new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause }) }))
})

/**
 * The same client, but its transactions begin and end within a time limit. When the limit is over, the pool closes
 * the connection, because a statement is still open on it.
 */
export const withBoundedTransactions = (client: PgClient.PgClient, millis: number): PgClient.PgClient => {
  /** Connections on which a savepoint was not answered in time. The savepoint may exist there or not. */
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
