/**
 * The part of a host's own database client that we need.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { sqlState } from "../StorageFailure.ts"
import { TransactionGone } from "./TransactionGone.ts"

/** Runs a statement with parameters `$1`, `$2`, … Clients and pools of `pg` do; others need a small adapter. */
export interface HostClient {
  query(text: string, values: Array<unknown>): Promise<{ readonly rows: ReadonlyArray<unknown> }>
}

/** A client that a pool lent. */
export interface HostPoolClient extends HostClient {
  /** Returns it to the pool. `true`: it is broken and must not be used again. */
  release(isBroken?: boolean): void
  /** Event emitters such as `pg`'s clients have it. Reports that the connection was lost while no statement ran. */
  on?(event: "error", listener: (error: Error) => void): unknown
  off?(event: "error", listener: (error: Error) => void): unknown
}

/** A pool of clients, as `pg.Pool` is. */
export interface HostPool {
  connect(): Promise<HostPoolClient>
  /** Event emitters such as `pg.Pool` have it. Reports lost idle connections. */
  listenerCount?(event: "error"): number
  on?(event: "error", listener: (error: Error) => void): unknown
  off?(event: "error", listener: (error: Error) => void): unknown
}

/**
 * The `SqlError` of a driver's error, which stays its cause. An error without an SQLSTATE is one of the connection.
 */
export const toSqlError = (cause: unknown, operation = "query"): SqlError.SqlError => {
  if (cause instanceof TransactionGone) {
    const { message } = cause
    return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, operation, message }) })
  }
  const state = sqlState(cause)
  const reason =
    state === undefined || state.startsWith("08")
      ? new SqlError.ConnectionError({ cause, operation, message: "the host's database connection failed" })
      : new SqlError.UnknownError({
          cause,
          operation,
          message: `the database refused a statement (${state})`,
        })
  return new SqlError.SqlError({ reason })
}

/** A connection over a host's client. `onInterrupt` is called when a statement is given up while it runs. */
export const connection = (client: HostClient, onInterrupt: () => unknown): SqlConnection.Connection => {
  const run = (text: string, values: ReadonlyArray<unknown>) =>
    Effect.tryPromise({
      try: () => client.query(text, [...values]),
      catch: (error) => toSqlError(error),
    }).pipe(Effect.onInterrupt(() => Effect.sync(onInterrupt)))
  const rows = (text: string, values: ReadonlyArray<unknown>) =>
    Effect.map(run(text, values), (result) => result.rows as ReadonlyArray<object>)
  const values = (text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.map(rows(text, parameters), (all) => all.map((row) => Object.values(row)))
  const transformed: SqlConnection.Connection["execute"] = (text, parameters, transform) =>
    transform === undefined ? rows(text, parameters) : Effect.map(rows(text, parameters), transform)
  return {
    execute: transformed,
    executeUnprepared: transformed,
    executeRaw: run,
    executeValues: values,
    executeValuesUnprepared: values,
    executeStream: (text, parameters, transform) =>
      Stream.fromIterableEffect(transformed(text, parameters, transform)),
  }
}

/** A `SqlClient` over connections of the host. */
export const makeSqlClient = (
  options: Pick<
    SqlClient.SqlClient.MakeOptions,
    "acquirer" | "transactionAcquirer" | "beginTransaction" | "commit" | "rollback" | "isTransaction"
  >,
): Effect.Effect<SqlClient.SqlClient> =>
  SqlClient.make({
    ...options,
    compiler: PgClient.makeCompiler(),
    driver: "host",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "postgresql"]],
  }).pipe(Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make))
