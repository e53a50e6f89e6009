/**
 * Working on the host's own connections, and inside its own transactions.
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

/** What the joins of one client have in common. */
interface Joins {
  /** One at a time has a savepoint on the connection. */
  readonly turns: Semaphore.Semaphore
  /** The marks of those that are under way. */
  readonly marks: Set<string>
  /** The statement that was made last. They are sent one by one: postgres.js loses what comes together, and late. */
  last: Promise<unknown>
}

/** Two callers on the same client have to know of each other. */
const joinsOfClients = new WeakMap<HostClient, Joins>()

const joinsOf = (client: HostClient): Joins => {
  const known = joinsOfClients.get(client)
  if (known !== undefined) return known
  const joins: Joins = { turns: Semaphore.makeUnsafe(1), marks: new Set(), last: Promise.resolve() }
  joinsOfClients.set(client, joins)
  return joins
}

/**
 * A `SqlClient` inside a transaction that the host has begun on `client`, and will commit or roll back itself. Its
 * statements reject with a `SqlError` of `TransactionGone` when that transaction is not the one on the connection any more.
 * What is a transaction elsewhere is a savepoint here, and only one at a time on one client.
 */
export const fromTransaction = (client: HostClient): Effect.Effect<SqlClient.SqlClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const joins = joinsOf(client)
    const { marks, turns } = joins
    const mark = crypto.randomUUID()
    const guard = TransactionGuard.guarded(client, mark)
    // Sent before anything is waited for. Whoever makes the first statement learns that it failed.
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

/** Whose client is inside. */
const clients = new WeakMap<SqlClient.SqlClient, HostClient>()

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
 *
 * It belongs to the transaction that is open on `client` when it is run, which costs one round trip. A statement that
 * comes when that one has ended (because somebody forgot to wait) does nothing: the effect fails with a `StorageError`
 * that is not `retryable`, whatever else is on the connection by then.
 */
export const joining =
  (client: HostClient) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(HostTransaction, (joined) =>
      // Joined already, the effect may be inside of a savepoint that another join would wait for.
      joined !== undefined && clients.get(joined) === client
        ? effect
        : Effect.scopedWith((scope) =>
            Effect.flatMap(Scope.provide(fromTransaction(client), scope), (sql) =>
              Effect.provideService(effect, HostTransaction, sql),
            ),
          ),
    )
