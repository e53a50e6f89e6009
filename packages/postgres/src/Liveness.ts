/**
 * Keeps work without a time limit from waiting for a server that has stopped answering.
 *
 * The network notices when a machine is gone. It doesn't notice a stopped server, or a route that drops every packet.
 * So while such work runs, the server gets another query from time to time, on a separate connection.
 */
import { StorageError } from "@billwright/core"
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { answeredWithin, waited } from "./Deadline.ts"
import { sqlState } from "./StorageFailure.ts"

/** How often the server gets such a query, in milliseconds. */
const INTERVAL_MILLIS = 10_000
/** How long connecting and the answer may take, in milliseconds. */
const ANSWER_MILLIS = 10_000
/** After this many queries in a row without an answer, the work is given up. */
const MAX_MISSED = 2
/** After the first query and then after each group of this many, a log line says that the work is still running. */
const LOGGED = 6

export interface LivenessOptions {
  readonly intervalMillis?: number
  readonly answerMillis?: number
}

/** The current client, if more connections like its own can be opened. On a host's pool they can't. */
export const watchable: Effect.Effect<PgClient.PgClient | undefined, never, SqlClient.SqlClient> = Effect.map(
  Effect.all([SqlClient.SqlClient, Effect.serviceOption(PgClient.PgClient)]),
  ([sql, client]) =>
    Option.isSome(client) && (client.value as SqlClient.SqlClient) === sql ? client.value : undefined,
)

/**
 * Runs `effect` for as long as the client's server answers other queries. Fails with a `retryable` `StorageError`
 * when it stops answering. Logs how long it has been running. Without a client it runs `effect` without these checks.
 */
export const whileAlive = <A, E, R>(
  client: PgClient.PgClient | undefined,
  operation: string,
  effect: Effect.Effect<A, E, R>,
  options: LivenessOptions = {},
): Effect.Effect<A, E | StorageError, R> =>
  client === undefined ? effect : Effect.raceFirst(effect, watch(client, operation, options))

const watch = Effect.fnUntraced(function* (
  client: PgClient.PgClient,
  operation: string,
  options: LivenessOptions,
): Effect.fn.Return<never, StorageError> {
  const { answerMillis = ANSWER_MILLIS, intervalMillis = INTERVAL_MILLIS } = options
  const started = performance.now()
  let missed = 0
  for (let asked = 1; ; asked++) {
    yield* waited(intervalMillis)
    missed = (yield* isAlive(client, answerMillis)) ? 0 : missed + 1
    const seconds = Math.round((performance.now() - started) / 1000)
    if (missed === MAX_MISSED) {
      const cause = new Error(`Postgres stopped answering after ${seconds} s`)
      return yield* new StorageError({ operation, retryable: true, cause })
    }
    if (asked === 1 || asked % LOGGED === 0)
      yield* Effect.logInfo(`${operation} is still running after ${seconds} s`)
  }
})

/** Whether the server answers, even with an error. */
const isAlive = (client: PgClient.PgClient, millis: number): Effect.Effect<boolean> => {
  const asked = Effect.scoped(
    Effect.flatMap(PgConnection.make(client.config), (connection) => connection.query("select 1")),
  )
  return answeredWithin(asked, millis, () => new Error("too late")).pipe(
    Effect.as(true),
    Effect.catch((error) => Effect.succeed(sqlState(error) !== undefined)),
  )
}
