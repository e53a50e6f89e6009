/**
 * Working on the host's own connections, and inside its own transactions.
 */
import { Effect, Layer, Semaphore } from "effect"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"
import { bounded, commit, rolledBack } from "../TransactionControl.ts"
import {
  connection,
  type HostClient,
  type HostPool,
  type HostPoolClient,
  makeSqlClient,
  toSqlError,
} from "./HostClient.ts"
import { HostTransaction } from "./HostTransaction.ts"

export type { HostClient, HostPool, HostPoolClient } from "./HostClient.ts"

/**
 * A `SqlClient` on the host's pool (`pg.Pool`, or anything that looks like it), instead of connections of our
 * own. The pool stays the host's: its size and time-outs count, and it is never ended here.
 *
 * A statement or transaction that is given up gives its connection back as broken. Where nobody listens for the pool's
 * event `error`, idle connections that it lost are logged: otherwise they would end the process.
 */
export const fromPool = (pool: HostPool): Layer.Layer<SqlClient.SqlClient> => {
  // What is still running on a broken connection can't be waited for, and ROLLBACK would have to: closing the
  // connection ends its transaction as well.
  const broken = new WeakSet<SqlConnection.Connection>()
  const acquirer = Effect.map(
    Effect.acquireRelease(
      Effect.map(lend(pool), (client) => {
        const conn = watched(client, broken)
        // A pool listens to what it has not lent. Nobody listening, the loss of a connection would end the process.
        const onLoss = () => void broken.add(conn)
        client.on?.("error", onLoss)
        return { client, conn, onLoss }
      }),
      ({ client, conn, onLoss }) =>
        Effect.sync(() => {
          client.off?.("error", onLoss)
          client.release(broken.has(conn))
        }),
      { interruptible: true },
    ),
    ({ conn }) => conn,
  )
  const isTransaction = (conn: SqlConnection.Connection): boolean => !broken.has(conn)
  const client = makeSqlClient({
    acquirer,
    commit: (conn) => (broken.has(conn) ? rolledBack : bounded(commit(conn))),
    isTransaction,
  })
  return Layer.effect(SqlClient.SqlClient, Effect.andThen(heedLosses(pool), client))
}

/**
 * Logs idle connections that a pool lost, and replaces, until the scope closes. An event `error` that nobody listens
 * for would end the process; a host that listens is left alone.
 */
const heedLosses = Effect.fnUntraced(function* (pool: HostPool) {
  if (pool.listenerCount?.("error") !== 0) return
  const run = Effect.runForkWith(yield* Effect.context<never>())
  // The error itself leads to the client, and to all that it was connected with.
  const listener = ({ message }: Error) =>
    void run(Effect.logWarning("the pool lost an idle connection", message))
  yield* Effect.acquireRelease(
    Effect.sync(() => pool.on?.("error", listener)),
    () => Effect.sync(() => pool.off?.("error", listener)),
  )
})

/** A connection that becomes broken when it fails, or when a statement on it is given up. */
const watched = (
  client: HostPoolClient,
  broken: WeakSet<SqlConnection.Connection>,
): SqlConnection.Connection => {
  const conn: SqlConnection.Connection = connection(
    {
      query: async (text, values) => {
        try {
          return await client.query(text, values)
        } catch (error) {
          if (toSqlError(error).reason._tag === "ConnectionError") broken.add(conn)
          throw error
        }
      },
    },
    () => broken.add(conn),
  )
  // What is not to be prepared are BEGIN, ROLLBACK and savepoints.
  const { executeUnprepared } = conn
  return Object.assign(conn, {
    executeUnprepared: (...args: Parameters<typeof executeUnprepared>) => bounded(executeUnprepared(...args)),
  })
}

/** A client that arrives after nobody waits for it any more goes straight back. */
const lend = (pool: HostPool) =>
  Effect.callback<Awaited<ReturnType<HostPool["connect"]>>, SqlError.SqlError>((resume) => {
    let isAwaited = true
    pool.connect().then(
      (client) => (isAwaited ? resume(Effect.succeed(client)) : client.release()),
      (error: unknown) => resume(Effect.fail(toSqlError(error, "connect"))),
    )
    return Effect.sync(() => {
      isAwaited = false
    })
  })

/**
 * A `SqlClient` inside a transaction that the host has begun on `client`, and will commit or roll back itself.
 * What is a transaction elsewhere is a savepoint here, and only one at a time on one client.
 */
export const fromTransaction = (client: HostClient): Effect.Effect<SqlClient.SqlClient> =>
  Effect.suspend(() => {
    const known = clients.get(client)
    if (known !== undefined) return Effect.succeed(known)
    const turns = Semaphore.makeUnsafe(1)
    const conn: SqlConnection.Connection = connection(client, () => {})
    return makeSqlClient({
      acquirer: Effect.succeed(conn),
      transactionAcquirer: Effect.acquireRelease(Effect.as(turns.take(1), conn), () => turns.release(1), {
        interruptible: true,
      }),
      beginTransaction: "SAVEPOINT billwright",
      commit: "RELEASE SAVEPOINT billwright",
      rollback: "ROLLBACK TO SAVEPOINT billwright",
    }).pipe(
      Effect.tap((sql) =>
        Effect.sync(() => {
          clients.set(client, sql)
        }),
      ),
    )
  })

/** One for each client: two callers on the same one have to know of each other. */
const clients = new WeakMap<HostClient, SqlClient.SqlClient>()

/**
 * Runs an effect of any service over this storage inside the host's transaction on `client`: everything that it
 * writes commits and rolls back with the rows of the host.
 *
 * ```ts
 * await client.query("BEGIN")
 * await client.query("insert into orders …")
 * await runtime.runPromise(usage.record(input).pipe(Host.joining(client)))
 * await client.query("COMMIT")
 * ```
 *
 * Failures undo what the effect wrote, and leave the host's transaction usable. Nothing is tried again and no
 * deadline applies: a transaction that is not ours can't be repeated. READ COMMITTED, the default of Postgres,
 * is the isolation level to use; at stricter ones Postgres may refuse with `40001`, and the host has to start
 * its transaction anew.
 */
export const joining =
  (client: HostClient) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(fromTransaction(client), (sql) => Effect.provideService(effect, HostTransaction, sql))
