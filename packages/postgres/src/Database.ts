/**
 * How every store accesses Postgres: with a time limit, with retries where they are safe, and with classified errors.
 */
import type { StorageError } from "@billwright/core"
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentTransaction } from "./CurrentTransaction.ts"
import { answeredWithin } from "./Deadline.ts"
import { HostTransaction } from "./host/HostTransaction.ts"
import { TransactionGone } from "./host/TransactionGone.ts"
import { watchable, whileAlive } from "./Liveness.ts"
import { pauseBefore, RetryPolicy } from "./RetryPolicy.ts"
import * as SchemaName from "./SchemaName.ts"
import { kindOf, outcomeUnknown, toStorageError, tooLate } from "./StorageFailure.ts"
import * as Tables from "./Tables.ts"
import * as TenantScope from "./TenantScope.ts"

/** Options of the storage. */
export interface StorageOptions {
  /** The Postgres schema that holds all tables and functions of Billwright. Default `billwright`. */
  readonly schema?: string
  /**
   * The time limit of an operation or a transaction, in milliseconds. It includes waiting for a connection, and
   * retries. When it is over, the call fails with a `StorageError`, even if the database doesn't answer at all.
   * Default 4,500.
   */
  readonly deadlineMillis?: number
  /** How many attempts a statement or transaction gets in all, when the failure is temporary. Default 3. */
  readonly maxAttempts?: number
  /**
   * Whether to `LISTEN` for commits of other processes. This takes one more connection for as long as a dispatcher or
   * a stream of events runs. Without it they check once a second. It is never used on a host's pool or behind a proxy
   * (`isPooled`). Default true.
   */
  readonly listen?: boolean
}

/** Callers are promised an answer within 5 seconds; this leaves half a second of that. */
const DEFAULT_DEADLINE_MILLIS = 4_500

/** The statements of a store. `isRepeat`: an earlier attempt may have been carried out. */
type Ask<A> = (sql: SqlClient.SqlClient, isRepeat: boolean) => Effect.Effect<A, SqlError.SqlError>

/**
 * Ways to run statements. Where the schema has row-level security, they see the rows of the current fiber's tenant, and
 * those of `everyTenant` see all rows.
 */
interface Access {
  /** Runs a statement that changes nothing. */
  readonly read: <A>(operation: string, ask: Ask<A>) => Effect.Effect<A, StorageError>
  /** Runs one statement that is safe to repeat: running it twice has the same effect as running it once. */
  readonly write: <A>(operation: string, ask: Ask<A>) => Effect.Effect<A, StorageError>
  /** Like `write`, but outside of the current transaction: on another connection, committed at once. */
  readonly writeApart: <A>(operation: string, ask: Ask<A>) => Effect.Effect<A, StorageError>
  /**
   * Runs a statement that reads many rows. Outside of a transaction it gets one of its own without time limits, which
   * goes on for as long as the server answers other queries. Inside of one it runs in that.
   */
  readonly unbounded: <A>(operation: string, ask: Ask<A>) => Effect.Effect<A, StorageError>
}

export interface DatabaseService extends Access {
  readonly tables: Tables.Tables
  readonly schema: SchemaName.SchemaName
  readonly deadlineMillis: number
  readonly policy: RetryPolicy
  /** The client of the current fiber: that of the host's transaction, if it is in one. */
  readonly client: Effect.Effect<SqlClient.SqlClient>
  /** Whether the current fiber is in a transaction, the host's or ours. */
  readonly inTransaction: Effect.Effect<boolean>
  /** For statements that are about all tenants, such as those of workers. Those of one tenant must not use it. */
  readonly everyTenant: Access
}

export class Database extends Context.Service<Database, DatabaseService>()("@billwright/postgres/Database") {
  /** Asks whether the schema has row-level security. It has to be there already. */
  static readonly layer = (
    options: StorageOptions,
  ): Layer.Layer<Database, StorageError, SqlClient.SqlClient> =>
    Layer.effect(
      Database,
      Effect.gen(function* () {
        const [sql, server] = [yield* SqlClient.SqlClient, yield* watchable]
        const isAsked = yield* Effect.mapError(
          TenantScope.isAsked(sql, SchemaName.make(options.schema)),
          (error) => toStorageError("Storage", error, kindOf(error) !== "permanent"),
        )
        return make(sql, server, options, isAsked ? TenantScope.make(sql) : TenantScope.none)
      }),
    )
}

const make = (
  own: SqlClient.SqlClient,
  server: PgClient.PgClient | undefined,
  options: StorageOptions,
  scope: TenantScope.TenantScope,
): DatabaseService => {
  const schema = SchemaName.make(options.schema)
  const deadlineMillis = options.deadlineMillis ?? DEFAULT_DEADLINE_MILLIS
  const policy = new RetryPolicy(options.maxAttempts)

  const client = Effect.map(HostTransaction, (joined) => joined ?? own)
  const inTransaction = Effect.contextWith((context: Context.Context<never>) =>
    Effect.succeed(
      Context.get(context, HostTransaction) !== undefined ||
        Option.isSome(Context.getOption(context, own.transactionService)),
    ),
  )

  /** `Context.omit` copies all services, so it is only used in a transaction. */
  const withoutTransaction = (context: Context.Context<never>): Context.Context<never> =>
    Option.isSome(Context.getOption(context, own.transactionService))
      ? Context.omit(own.transactionService)(context)
      : context

  const access = (whose: TenantScope.Whose): Access => {
    /**
     * A failed statement fails the whole transaction, so only the outermost transaction decides whether to try again.
     */
    const joined = <A>(operation: string, sql: SqlClient.SqlClient, ask: Ask<A>) =>
      Effect.flatMap(openTransaction(operation), (transaction) =>
        Effect.mapError(scope.joined(sql, whose, ask(sql, false)), (error) => {
          const kind = kindOf(error)
          const failure = toStorageError(operation, error, kind !== "permanent")
          if (transaction._tag === "Some") transaction.value.noteFailure(kind, failure)
          return failure
        }),
      )

    const alone = <A>(operation: string, ask: Ask<A>, isRead: boolean): Effect.Effect<A, StorageError> => {
      let isUnknown = false
      const attempt = (count: number): Effect.Effect<A, StorageError> =>
        Effect.catch(scope.alone(own, whose, ask(own, isUnknown)), (error) => {
          const kind = kindOf(error)
          if (kind === "unknown" && !isRead) isUnknown = true
          if ((kind === "transient" || kind === "unknown") && policy.allows(count)) {
            return Effect.andThen(pauseBefore(count), attempt(count + 1))
          }
          return Effect.fail(
            isUnknown
              ? outcomeUnknown(operation, error)
              : toStorageError(operation, error, kind !== "permanent"),
          )
        })
      return Effect.suspend(() =>
        answeredWithin(attempt(1), deadlineMillis, () => tooLate(operation, deadlineMillis, isRead)),
      )
    }

    const run = <A>(operation: string, ask: Ask<A>, isRead: boolean): Effect.Effect<A, StorageError> =>
      Effect.flatMap(inTransaction, (isJoined) =>
        isJoined
          ? Effect.flatMap(client, (sql) => joined(operation, sql, ask))
          : alone(operation, ask, isRead),
      )

    const writeApart = <A>(operation: string, ask: Ask<A>): Effect.Effect<A, StorageError> =>
      Effect.updateContext(alone(operation, ask, false), withoutTransaction)

    const unbounded = <A>(operation: string, ask: Ask<A>): Effect.Effect<A, StorageError> =>
      Effect.flatMap(inTransaction, (isJoined) =>
        isJoined
          ? Effect.flatMap(client, (sql) => joined(operation, sql, ask))
          : withoutStatementTimeout(own, scope.joined(own, whose, ask(own, false))).pipe(
              Effect.mapError((error) => toStorageError(operation, error, kindOf(error) !== "permanent")),
              (asked) => whileAlive(server, operation, asked),
            ),
      )

    return {
      read: (operation, ask) => run(operation, ask, true),
      write: (operation, ask) => run(operation, ask, false),
      writeApart,
      unbounded,
    }
  }

  return Database.of({
    tables: Tables.make(schema),
    schema,
    deadlineMillis,
    policy,
    client,
    inTransaction,
    everyTenant: access("every"),
    ...access("own"),
  })
}

/**
 * The transaction of ours that the current fiber is in. Fails when it has ended, because its connection may be in another one by
 * then: a fiber that nobody waited for would write there.
 */
export const openTransaction = (
  operation: string,
): Effect.Effect<Option.Option<CurrentTransaction["Service"]>, StorageError> =>
  Effect.flatMap(Effect.serviceOption(CurrentTransaction), (transaction) =>
    transaction._tag === "Some" && transaction.value.exit !== undefined
      ? Effect.fail(toStorageError(operation, new TransactionGone(), false))
      : Effect.succeed(transaction),
  )

const READ_COMMITTED = "BEGIN ISOLATION LEVEL READ COMMITTED"

/**
 * Runs an effect in a transaction of ours at READ COMMITTED, whatever `default_transaction_isolation` says, unless the caller
 * has asked for another level by `BeginTransaction`. Inside of a host's transaction it is a savepoint of that.
 */
export const withReadCommitted = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.flatMap(Effect.all([HostTransaction, SqlClient.BeginTransaction]), ([joined, asked]) => {
    if (joined === sql || asked !== undefined) return sql.withTransaction(effect)
    // The effect may begin transactions on other clients. They begin as they do without us.
    const inside = Effect.provideService(effect, SqlClient.BeginTransaction, asked)
    return Effect.provideService(sql.withTransaction(inside), SqlClient.BeginTransaction, READ_COMMITTED)
  })

/** Runs an effect in a transaction whose statements have no time limit. */
export const withoutStatementTimeout = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  withReadCommitted(sql, Effect.andThen(sql`select set_config('statement_timeout', '0', true)`, effect))
