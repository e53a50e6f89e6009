/**
 * The way of every store to Postgres: bounded in time, tried again where that is safe, errors classified.
 */
import type { StorageError } from "@billwright/core"
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentTransaction } from "./CurrentTransaction.ts"
import { answeredWithin } from "./Deadline.ts"
import { HostTransaction } from "./host/HostTransaction.ts"
import { watchable, whileAlive } from "./Liveness.ts"
import { pauseBefore, RetryPolicy } from "./RetryPolicy.ts"
import * as SchemaName from "./SchemaName.ts"
import { kindOf, outcomeUnknown, toStorageError, tooLate } from "./StorageFailure.ts"
import * as Tables from "./Tables.ts"

/** How the storage behaves. */
export interface StorageOptions {
  /** The Postgres schema that holds everything of ours. Default `billwright`. */
  readonly schema?: string
  /**
   * How long an operation or transaction may take, in milliseconds, waiting for a connection and tries
   * included. Then it ends with a `StorageError`, even when the database doesn't answer at all. Default 4,500.
   */
  readonly deadlineMillis?: number
  /** How often a statement or transaction is tried in all, when the failure is over soon. Default 3. */
  readonly maxAttempts?: number
  /**
   * Whether to hear by `LISTEN` what other processes have committed, on one more connection for as long as a
   * dispatcher or a stream of events runs. Without it they look once a second. On a host's pool and behind a proxy
   * (`isPooled`) there is never one. Default true.
   */
  readonly listen?: boolean
}

/** Leaves half a second of the 5 that a caller is promised. */
const DEFAULT_DEADLINE_MILLIS = 4_500

/** What a store asks of the database. `isRepeat`: an earlier try may have been carried out. */
type Ask<A> = (sql: SqlClient.SqlClient, isRepeat: boolean) => Effect.Effect<A, SqlError.SqlError>

export interface DatabaseService {
  readonly tables: Tables.Tables
  readonly schema: SchemaName.SchemaName
  readonly deadlineMillis: number
  readonly policy: RetryPolicy
  /** The client of the current fiber: the host's transaction, if it is in one. */
  readonly client: Effect.Effect<SqlClient.SqlClient>
  /** Whether the current fiber is in a transaction, the host's or ours. */
  readonly inTransaction: Effect.Effect<boolean>
  /** Runs a statement that changes nothing. */
  readonly read: <A>(operation: string, ask: Ask<A>) => Effect.Effect<A, StorageError>
  /** Runs one statement that can be repeated: carried out twice, it leaves what it leaves when carried out once. */
  readonly write: <A>(operation: string, ask: Ask<A>) => Effect.Effect<A, StorageError>
  /** The same outside of the current transaction, if there is one: on a connection of its own, committed at once. */
  readonly writeApart: <A>(operation: string, ask: Ask<A>) => Effect.Effect<A, StorageError>
  /**
   * Runs a statement that reads much: in a transaction of its own without time limits, as long as the server answers
   * others; or in the current one.
   */
  readonly unbounded: <A>(operation: string, ask: Ask<A>) => Effect.Effect<A, StorageError>
}

export class Database extends Context.Service<Database, DatabaseService>()("@billwright/postgres/Database") {
  static readonly layer = (options: StorageOptions): Layer.Layer<Database, never, SqlClient.SqlClient> =>
    Layer.effect(
      Database,
      Effect.map(Effect.all([SqlClient.SqlClient, watchable]), ([sql, server]) => make(sql, server, options)),
    )
}

const make = (
  own: SqlClient.SqlClient,
  server: PgClient.PgClient | undefined,
  options: StorageOptions,
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

  /** Inside a transaction a failed statement fails all of it: whether to try again is for the outermost to say. */
  const joined = <A>(operation: string, sql: SqlClient.SqlClient, ask: Ask<A>) =>
    Effect.flatMap(Effect.serviceOption(CurrentTransaction), (transaction) =>
      Effect.mapError(ask(sql, false), (error) => {
        const kind = kindOf(error)
        const failure = toStorageError(operation, error, kind !== "permanent")
        if (transaction._tag === "Some") transaction.value.noteFailure(kind, failure)
        return failure
      }),
    )

  const alone = <A>(operation: string, ask: Ask<A>, isRead: boolean): Effect.Effect<A, StorageError> => {
    let isUnknown = false
    const attempt = (count: number): Effect.Effect<A, StorageError> =>
      Effect.catch(ask(own, isUnknown), (error) => {
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
      isJoined ? Effect.flatMap(client, (sql) => joined(operation, sql, ask)) : alone(operation, ask, isRead),
    )

  const writeApart = <A>(operation: string, ask: Ask<A>): Effect.Effect<A, StorageError> =>
    Effect.updateContext(alone(operation, ask, false), (context: Context.Context<never>) =>
      Context.omit(own.transactionService)(context),
    )

  const unbounded = <A>(operation: string, ask: Ask<A>): Effect.Effect<A, StorageError> =>
    Effect.flatMap(inTransaction, (isJoined) =>
      isJoined
        ? Effect.flatMap(client, (sql) => joined(operation, sql, ask))
        : withoutStatementTimeout(own, ask(own, false)).pipe(
            Effect.mapError((error) => toStorageError(operation, error, kindOf(error) !== "permanent")),
            (asked) => whileAlive(server, operation, asked),
          ),
    )

  return Database.of({
    tables: Tables.make(schema),
    schema,
    deadlineMillis,
    policy,
    client,
    inTransaction,
    read: (operation, ask) => run(operation, ask, true),
    write: (operation, ask) => run(operation, ask, false),
    writeApart,
    unbounded,
  })
}

/** A transaction in which statements may take as long as they take. */
export const withoutStatementTimeout = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  sql.withTransaction(Effect.andThen(sql`select set_config('statement_timeout', '0', true)`, effect))
