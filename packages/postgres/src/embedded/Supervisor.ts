/**
 * Restarts a server that ended by itself.
 */
import { Clock, Deferred, Effect, type Scope } from "effect"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { type ServerProcess, stop } from "./ServerProcess.ts"

/** The pause before the first restart. It doubles with each restart that soon follows. */
const FIRST_PAUSE_MILLIS = 100
const MAX_PAUSE_MILLIS = 5_000
/** The most restarts in a row that fail, or whose server soon ends. Together they take about half a minute. */
const MAX_STARTS = 10
/** A server that has run for this long counts as healthy. When it ends later, restarts are counted from 1 again. */
const SOUND_MILLIS = 60_000

/** A server that is replaced by a new process when its process ends. */
export interface Supervised {
  /** The current process. */
  readonly current: () => ServerProcess
  /** Fails when the server is gone for good. */
  readonly ended: Effect.Effect<never, EmbeddedPostgresError>
}

export interface SupervisorOptions {
  readonly directory: string
  /** Whether to restart a server that ended. */
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
  // Uninterruptible, so that no server is started that nobody would stop.
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
      yield* Effect.logError(
        `the Postgres in ${directory} could not be restarted (attempt ${start}): ${failure}`,
      )
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
      yield* Effect.logError(`the Postgres in ${directory} ended (${how}) and is being restarted`)
      starts = yield* startAgain(how, starts)
      yield* Effect.logInfo(
        `the Postgres in ${directory} is running again, with everything that was committed`,
      )
    }
  })
  yield* Effect.forkScoped(Effect.catch(watch, (error) => Deferred.fail(ended, error)))
  return { current: () => running.server, ended: Deferred.await(ended) }
})

const endOf = (directory: string, how: string) =>
  new EmbeddedPostgresError({
    reason: "failed",
    message: `the Postgres in ${directory} ended (${how}). Start it again: it recovers everything that was committed`,
  })
