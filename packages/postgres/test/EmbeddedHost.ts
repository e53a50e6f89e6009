/**
 * A process that starts a Postgres and waits to be killed. `EmbeddedPostgres.test.ts` runs it.
 */
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Redacted } from "effect"

const host = Effect.gen(function* () {
  const server = yield* EmbeddedPostgres.start({ directory: process.argv[2]! })
  process.stdout.write(`${JSON.stringify({ url: Redacted.value(server.url), pid: server.pid })}\n`)
  return yield* Effect.never
})

await Effect.runPromise(Effect.scoped(host))
