/**
 * Uses the host's own connections, and works inside the host's own transactions.
 */
import { Effect, Layer, Scope, Semaphore } from "effect"
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
import * as TransactionGuard from "./TransactionGuard.ts"

export type { HostClient, HostPool, HostPoolClient } from "./HostClient.ts"
export { TransactionGone } from "./TransactionGone.ts"

/**
 * A `SqlClient` on the host's pool (`pg.Pool`, or anything with the same interface), in place of connections of our
 * own. The pool belongs to the host: its size and time-outs apply, and it is never ended here.
 *
 * A statement or transaction that is given up returns its connection to the pool as broken. If nobody listens for the
 * pool's event `error`, lost idle connections are logged here: an unheard event would end the process.
 */
export const fromPool = (pool: HostPool): Layer.Layer<SqlClient.SqlClient> => {
  // A statement may still be running on a broken connection, and ROLLBACK would have to wait for it. Closing the
  // connection ends its transaction as well.
  const broken = new WeakSet<SqlConnection.Connection>()
  const acquirer = Effect.map(
    Effect.acquireRelease(
      Effect.map(lend(pool), (client) => {
        const conn = watched(client, broken)
        // A pool doesn't listen to connections that it has lent. With no listener, the loss of one would end the
        // process.
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
 * Logs the idle connections that a pool lost, until the scope closes. The pool replaces them. Without a listener for
 * `error` such a loss would end the process. If the host listens itself, this does nothing.
 */
const heedLosses = Effect.fnUntraced(function* (pool: HostPool) {
  if (pool.listenerCount?.("error") !== 0) return
  const run = Effect.runForkWith(yield* Effect.context<never>())
  // Only the message is logged: the error refers to the client, and so to the connection's settings.
  const listener = ({ message }: Error) =>
    void run(Effect.logWarning("the pool lost an idle connection", message))
  yield* Effect.acquireRelease(
    Effect.sync(() => pool.on?.("error", listener)),
    () => Effect.sync(() => pool.off?.("error", listener)),
  )
})

/** A connection that is marked as broken when it fails, or when a statement on it is given up. */
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
  // The statements that run unprepared are BEGIN, ROLLBACK and savepoints.
  const { executeUnprepared } = conn
  return Object.assign(conn, {
    executeUnprepared: (...args: Parameters<typeof executeUnprepared>) => bounded(executeUnprepared(...args)),
  })
}

/** A client that arrives when nobody waits for it any more is returned at once. */
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

/** The state that all joins of one client share. */
interface Joins {
  /** Only one of them at a time has a savepoint on the connection. */
  readonly turns: Semaphore.Semaphore
  /** The marks of the joins that are running. */
  readonly marks: Set<string>
  /**
   * The last statement. Statements are sent one by one: postgres.js may lose one that it gets together with another.
   */
  last: Promise<unknown>
}

/** Shared by all callers with the same client. */
const joinsOfClients = new WeakMap<HostClient, Joins>()

const joinsOf = (client: HostClient): Joins => {
  const known = joinsOfClients.get(client)
  if (known !== undefined) return known
  const joins: Joins = { turns: Semaphore.makeUnsafe(1), marks: new Set(), last: Promise.resolve() }
  joinsOfClients.set(client, joins)
  return joins
}

/**
 * A `SqlClient` inside a transaction that the host has begun on `client`. The host commits it or rolls it back. When
 * that transaction is no longer the one on the connection, statements reject with a `SqlError` of `TransactionGone`.
 * Transactions of our own become savepoints here, one at a time on a client.
 */
export const fromTransaction = (client: HostClient): Effect.Effect<SqlClient.SqlClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const joins = joinsOf(client)
    const { marks, turns } = joins
    const mark = crypto.randomUUID()
    const guard = TransactionGuard.guarded(client, mark)
    // Sent before anything is awaited. If it fails, the first statement fails with its error.
    const left = TransactionGuard.leave(client, mark, marks)
    left.catch(() => undefined)
    yield* Effect.acquireRelease(
      Effect.sync(() => marks.add(mark)),
      () => Effect.sync(() => marks.delete(mark)),
    )
    const query: HostClient["query"] = (text, values) => {
      const running = joins.last.then(() => left).then(() => guard.query(text, values))
      joins.last = running.catch(() => undefined)
      return running
    }
    const conn: SqlConnection.Connection = connection({ query }, () => {})
    const sql = yield* makeSqlClient({
      acquirer: Effect.succeed(conn),
      transactionAcquirer: Effect.acquireRelease(Effect.as(turns.take(1), conn), () => turns.release(1), {
        interruptible: true,
      }),
      beginTransaction: "SAVEPOINT billwright",
      commit: "RELEASE SAVEPOINT billwright",
      rollback: "ROLLBACK TO SAVEPOINT billwright",
    })
    clients.set(sql, client)
    return sql
  })

/** The host's client of each `SqlClient` that `fromTransaction` made. */
const clients = new WeakMap<SqlClient.SqlClient, HostClient>()

/**
 * Runs an effect of any service over this storage inside the host's transaction on `client`. Everything that the
 * effect writes is committed or rolled back together with the host's rows.
 *
 * ```ts
 * await client.query("BEGIN")
 * await client.query("insert into orders …")
 * await runtime.runPromise(usage.record(input).pipe(Host.joining(client)))
 * await client.query("COMMIT")
 * ```
 *
 * When the effect is refused, its writes are undone, and the host's transaction stays usable. After a `StorageError` roll it
 * back: Postgres may have failed it. Nothing is repeated and no deadline applies, because the transaction is not ours. Use
 * the isolation level READ COMMITTED, the default of Postgres. At stricter levels Postgres may fail with `40001`, and the
 * host has to start its transaction again.
 *
 * The effect belongs to the transaction that is open on `client` when it starts; noting that costs one round trip. A
 * statement that comes after that transaction has ended (because somebody forgot an `await`) does nothing: the effect
 * fails with a `StorageError` that is not `retryable`, even if another transaction is open on the connection by then.
 */
export const joining =
  (client: HostClient) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(HostTransaction, (joined) =>
      // An effect that has already joined may be inside of a savepoint, and another join would wait for that one
      // forever.
      joined !== undefined && clients.get(joined) === client
        ? effect
        : Effect.scopedWith((scope) =>
            Effect.flatMap(Scope.provide(fromTransaction(client), scope), (sql) =>
              Effect.provideService(effect, HostTransaction, sql),
            ),
          ),
    )
