/**
 * Starts a server again that ended by itself.
 */
import { Clock, Deferred, Effect, type Scope } from "effect"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { type ServerProcess, stop } from "./ServerProcess.ts"

/** Before the first new start after an end; each one that follows soon waits twice as long. */
const FIRST_PAUSE_MILLIS = 100
const MAX_PAUSE_MILLIS = 5_000
/** New starts in a row that came to nothing, or to a server that ended soon. Then it is given up: about half a minute. */
const MAX_STARTS = 10
/** A server that has run for so long is taken for a sound one: its end is counted from 1 again. */
const SOUND_MILLIS = 60_000

/** A server that goes on by another process when one ends. */
export interface Supervised {
  /** The process of the moment. */
  readonly current: () => ServerProcess
  /** Fails when the server is gone for good. */
  readonly ended: Effect.Effect<never, EmbeddedPostgresError>
}

export interface SupervisorOptions {
  readonly directory: string
  /** Whether a server that ends is started again at all. */
  readonly restart: boolean
}

type Launch = Effect.Effect<ServerProcess, EmbeddedPostgresError>

const pauseBefore = (start: number): Effect.Effect<void> =>
  Effect.sleep(Math.min(FIRST_PAUSE_MILLIS * 2 ** (start - 1), MAX_PAUSE_MILLIS))

/** Starts a server that lives as long as the scope. */
export const supervise = Effect.fnUntraced(function* (
  launch: Launch,
  { directory, restart }: SupervisorOptions,
): Effect.fn.Return<Supervised, EmbeddedPostgresError, Scope.Scope> {
  const running = yield* Effect.acquireRelease(
    Effect.map(launch, (server) => ({ server })),
    ({ server }) => Effect.promise(() => stop(server)),
  )
  // Whole, so that no server is started that nobody stops.
  const launchAgain = Effect.uninterruptible(
    Effect.map(launch, (server) => {
      running.server = server
    }),
  )
  const startAgain = Effect.fnUntraced(function* (how: string, startsBefore: number) {
    let reason = how
    for (let start = startsBefore + 1; start <= MAX_STARTS; start++) {
      yield* pauseBefore(start)
      const failure = yield* Effect.match(launchAgain, {
        onFailure: ({ message }) => message,
        onSuccess: () => undefined,
      })
      if (failure === undefined) return start
      reason = failure
      yield* Effect.logError(`the Postgres in ${directory} can't be started again, try ${start}: ${failure}`)
    }
    return yield* endOf(directory, reason)
  })
  const ended = yield* Deferred.make<never, EmbeddedPostgresError>()
  const watch = Effect.gen(function* () {
    let starts = 0
    for (;;) {
      const since = yield* Clock.currentTimeMillis
      const how = yield* Effect.promise(() => running.server.exited)
      if (!restart) return yield* endOf(directory, how)
      if ((yield* Clock.currentTimeMillis) - since >= SOUND_MILLIS) starts = 0
      yield* Effect.logError(`the Postgres in ${directory} ended (${how}) and is started again`)
      starts = yield* startAgain(how, starts)
      yield* Effect.logInfo(`the Postgres in ${directory} is back, with everything that was committed`)
    }
  })
  yield* Effect.forkScoped(Effect.catch(watch, (error) => Deferred.fail(ended, error)))
  return { current: () => running.server, ended: Deferred.await(ended) }
})

const endOf = (directory: string, how: string) =>
  new EmbeddedPostgresError({
    reason: "failed",
    message: `the Postgres in ${directory} ended (${how}). Started again, it recovers everything that was committed`,
  })
