/**
 * Work without a limit of time, on a server that may stop answering.
 *
 * The network notices a machine that is gone, but nobody notices a server that is stopped or a way to it that
 * swallows everything. So as long as such work lasts, the server is asked something else from time to time, on a
 * connection of its own.
 */
import { StorageError } from "@billwright/core"
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { answeredWithin, waited } from "./Deadline.ts"
import { sqlState } from "./StorageFailure.ts"

/** How often the server is asked, in milliseconds. */
const INTERVAL_MILLIS = 10_000
/** How long it may take to connect and to answer, in milliseconds. */
const ANSWER_MILLIS = 10_000
/** After so many questions without an answer, one after the other, it is given up. */
const MAX_MISSED = 2
/** Every how many questions it is logged that the work goes on, after the first. */
const LOGGED = 6

export interface LivenessOptions {
  readonly intervalMillis?: number
  readonly answerMillis?: number
}

/** The current client, if further connections like its own can be made: it isn't one on a host's pool. */
export const watchable: Effect.Effect<PgClient.PgClient | undefined, never, SqlClient.SqlClient> = Effect.map(
  Effect.all([SqlClient.SqlClient, Effect.serviceOption(PgClient.PgClient)]),
  ([sql, client]) =>
    Option.isSome(client) && (client.value as SqlClient.SqlClient) === sql ? client.value : undefined,
)

/**
 * Runs `effect` as long as the server of the client answers others; fails with a `StorageError` that is `retryable`
 * when it does so no more. Logs how long it has been running. Without a client there is no telling.
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
      const cause = new Error(`Postgres stopped answering, ${seconds} s after the beginning`)
      return yield* new StorageError({ operation, retryable: true, cause })
    }
    if (asked === 1 || asked % LOGGED === 0)
      yield* Effect.logInfo(`${operation} goes on, ${seconds} s so far`)
  }
})

/** Whether the server answers, if only by an error. */
const isAlive = (client: PgClient.PgClient, millis: number): Effect.Effect<boolean> => {
  const asked = Effect.scoped(
    Effect.flatMap(PgConnection.make(client.config), (connection) => connection.query("select 1")),
  )
  return answeredWithin(asked, millis, () => new Error("too late")).pipe(
    Effect.as(true),
    Effect.catch((error) => Effect.succeed(sqlState(error) !== undefined)),
  )
}
