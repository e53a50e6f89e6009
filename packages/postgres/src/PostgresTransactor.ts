/**
 * The `Transactor` on Postgres.
 */
import { Batch, BatchTransactor, StorageError, Transactor } from "@billwright/core"
import { Cause, Effect, Exit, Layer } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { CurrentTransaction, TransactionState } from "./CurrentTransaction.ts"
import { Database, type DatabaseService, openTransaction, withReadCommitted } from "./Database.ts"
import { answeredWithin, waited } from "./Deadline.ts"
import { pauseBefore } from "./RetryPolicy.ts"
import { asSqlError, commitUnknown, kindOf, toStorageError, tooLate } from "./StorageFailure.ts"

const OPERATION = "Transactor.atomically"
/** The pause before asking again about a transaction that is still in progress. */
const STATUS_POLL_MILLIS = 50

/**
 * `atomically` is a transaction at READ COMMITTED, also where the default of the server is another level. A nested one is a savepoint.
 *
 * An outermost transaction is repeated as a whole when two things hold: it was certainly not committed, and the
 * failure is temporary (a deadlock, a serialization failure, a lock or statement time-out, or a connection lost
 * before COMMIT). The number of attempts is limited. So its effect may run more than once. When the connection is
 * lost during COMMIT, Postgres is asked whether the transaction was committed (`pg_xact_status`), and it is repeated
 * only if it was not. If the outcome can't be found out in time, or if Postgres has crashed in between, the
 * `StorageError` is not `retryable`.
 *
 * In a host's own transaction nothing is repeated and no deadline applies: both are up to the host.
 */
export const layer: Layer.Layer<Transactor, never, Database> = Layer.effect(
  Transactor,
  Effect.map(Database, (database) =>
    Transactor.of({
      atomically: (effect) =>
        Effect.flatMap(Effect.all([database.inTransaction, Batch.isMember]), ([isNested, isMember]) => {
          // Members of a batch share the connection, so a savepoint would undo what others do.
          if (isMember) return Batch.part(effect)
          return isNested ? nested(database, effect) : outermost(database, effect)
        }),
      inTransaction: database.inTransaction,
    }),
  ),
)

/** The `BatchTransactor`: a transaction whose calls of a verb are one statement. */
export const layerBatches: Layer.Layer<BatchTransactor, never, Database> = Layer.effect(
  BatchTransactor,
  Effect.map(Database, (database) =>
    BatchTransactor.of({
      atomicallyAll: (effects) => outermost(database, Batch.run(effects, failedPart)),
    }),
  ),
)

const failedPart = (): StorageError =>
  new StorageError({
    operation: "BatchTransactor.atomicallyAll",
    retryable: true,
    cause: new Error("a part of the transaction failed that can't be undone alone"),
  })

/** Keeps an effect's own errors apart from those of BEGIN, COMMIT and savepoints. */
class Inner<E> {
  readonly error: E
  constructor(error: E) {
    this.error = error
  }
}

/** The failure of BEGIN, COMMIT, ROLLBACK or a savepoint. The last two arrive as defects. */
const controlFailure = <E>(
  cause: Cause.Cause<Inner<E> | SqlError.SqlError>,
): SqlError.SqlError | undefined => {
  for (const reason of cause.reasons) {
    const error = Cause.isFailReason(reason)
      ? reason.error
      : Cause.isDieReason(reason)
        ? reason.defect
        : undefined
    const found = asSqlError(error)
    if (found !== undefined) return found
  }
  return undefined
}

/** The failure of a statement that the effect runs itself, besides those of our stores. */
const ownFailure = <E>(cause: Cause.Cause<Inner<E> | SqlError.SqlError>): SqlError.SqlError | undefined => {
  for (const reason of cause.reasons) {
    if (!Cause.isFailReason(reason) || !(reason.error instanceof Inner)) continue
    const found = asSqlError(reason.error.error)
    if (found !== undefined) return found
  }
  return undefined
}

const ownCause = <E>(cause: Cause.Cause<Inner<E> | SqlError.SqlError>): Cause.Cause<E> =>
  Cause.map(cause, (error) => (error instanceof Inner ? error.error : (error as never)))

const nested = <A, E, R>(
  database: DatabaseService,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  Effect.flatMap(Effect.andThen(openTransaction(OPERATION), database.client), (sql) =>
    sql.withTransaction(Effect.mapError(effect, (error) => new Inner(error))).pipe(
      Effect.catchCause((cause): Effect.Effect<A, E | StorageError> => {
        const failure = controlFailure(cause)
        if (failure === undefined) return Effect.failCause(ownCause(cause))
        const kind = kindOf(failure)
        const error = toStorageError(OPERATION, failure, kind !== "permanent")
        return Effect.flatMap(Effect.serviceOption(CurrentTransaction), (transaction) => {
          if (transaction._tag === "Some") transaction.value.noteFailure(kind, error)
          return Effect.fail(error)
        })
      }),
    ),
  )

type Settled<A, E> =
  | { readonly again: false; readonly exit: Exit.Exit<A, E | StorageError> }
  | { readonly again: true }

const outermost = <A, E, R>(
  database: DatabaseService,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  Effect.flatMap(database.client, (sql) => {
    const { deadlineMillis, policy } = database
    let state = new TransactionState<A, E>()

    const attempt = (count: number): Effect.Effect<A, E | StorageError, R> =>
      Effect.suspend(() => {
        state = new TransactionState<A, E>()
        const current = state
        return Effect.flatMap(Effect.exit(once(sql, effect, current)), (exit) =>
          Effect.flatMap(settle(sql, exit, current, policy.allows(count)), (settled) =>
            settled.again ? Effect.andThen(pauseBefore(count), attempt(count + 1)) : settled.exit,
          ),
        )
      })

    return answeredWithin(attempt(1), deadlineMillis, () => {
      state.isAbandoned = true
      const late = tooLate(OPERATION, deadlineMillis, true)
      return state.isCommitting ? commitUnknown(late) : late
    })
  })

/** One attempt: BEGIN, the effect, COMMIT or ROLLBACK. */
const once = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>,
  state: TransactionState<A, E>,
) =>
  effect.pipe(
    Effect.provideService(CurrentTransaction, state as TransactionState<unknown, unknown>),
    Effect.onExit((exit) =>
      Effect.sync(() => {
        state.exit = exit
      }),
    ),
    Effect.mapError((error) => new Inner(error)),
    Effect.tap(() => (state.isAbandoned ? Effect.interrupt : Effect.void)),
    (running) => withReadCommitted(sql, running),
  )

/** Decides the outcome of an attempt. */
const settle = Effect.fnUntraced(function* <A, E>(
  sql: SqlClient.SqlClient,
  exit: Exit.Exit<A, Inner<E> | SqlError.SqlError>,
  state: TransactionState<A, E>,
  mayRepeat: boolean,
): Effect.fn.Return<Settled<A, E>> {
  if (Exit.isSuccess(exit)) return { again: false, exit: Exit.succeed(exit.value) }
  const failure = controlFailure(exit.cause)
  if (state.isCommitting && failure !== undefined) return yield* settleCommit(sql, failure, state, mayRepeat)

  // Before COMMIT nothing is stored, whatever failed.
  const statement = ownFailure(exit.cause) ?? failure
  const kind = state.failure?.kind ?? (statement && kindOf(statement))
  if (mayRepeat && (kind === "transient" || kind === "unknown")) return { again: true }
  // A ROLLBACK that can't be sent hides the effect's own error. The caller gets the effect's error.
  if (state.exit !== undefined && Exit.isFailure(state.exit)) return { again: false, exit: state.exit }
  if (failure === undefined) return { again: false, exit: Exit.failCause(ownCause(exit.cause)) }
  return { again: false, exit: Exit.fail(toStorageError(OPERATION, failure, kind !== "permanent")) }
})

const settleCommit = Effect.fnUntraced(function* <A, E>(
  sql: SqlClient.SqlClient,
  failure: SqlError.SqlError,
  state: TransactionState<A, E>,
  mayRepeat: boolean,
): Effect.fn.Return<Settled<A, E>> {
  const kind = kindOf(failure)
  const status = kind === "unknown" ? yield* committed(sql, state) : false
  if (status === undefined) return { again: false, exit: Exit.fail(commitUnknown(failure)) }
  if (status) return { again: false, exit: state.exit! }
  if (mayRepeat && (kind === "unknown" || kind === "transient")) return { again: true }
  return { again: false, exit: Exit.fail(toStorageError(OPERATION, failure, kind !== "permanent")) }
})

/**
 * Whether a transaction was committed; `undefined` if Postgres can't tell. Asks again while the transaction is in
 * progress or the database is away, until the caller's deadline.
 *
 * After a crash, Postgres gives the numbers of transactions it had not yet written to disk to later ones. Its answer
 * "committed" may then be about another transaction. A crash resets the statistics, so their age tells whether one
 * happened since this transaction began. Ages are compared rather than instants, as the two clocks may differ.
 */
const committed = (
  sql: SqlClient.SqlClient,
  { startedAt, xid }: Pick<TransactionState<unknown, unknown>, "startedAt" | "xid">,
): Effect.Effect<boolean | undefined> => {
  if (xid === undefined) return Effect.succeed(undefined)
  const again = Effect.andThen(
    waited(STATUS_POLL_MILLIS),
    Effect.suspend((): Effect.Effect<boolean | undefined> => ask),
  )
  const ask: Effect.Effect<boolean | undefined> = Effect.matchEffect(
    sql<{ status: unknown; age: unknown }>`select pg_xact_status(${xid}::xid8) as status,
  (extract(epoch from clock_timestamp() - stats_reset) * 1000)::text as age from pg_stat_bgwriter`,
    {
      onSuccess: ([row]) => {
        switch (row?.status) {
          case "committed": {
            const hasCrashed = !(Number(row.age ?? 0) > performance.now() - startedAt)
            return Effect.succeed(hasCrashed ? undefined : true)
          }
          case "aborted":
            return Effect.succeed(false)
          case "in progress":
            return again
          default:
            return Effect.succeed(undefined)
        }
      },
      onFailure: (error) => (kindOf(error) === "permanent" ? Effect.succeed(undefined) : again),
    },
  )
  return ask
}
