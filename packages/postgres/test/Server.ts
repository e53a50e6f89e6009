import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * A Postgres for a test run: the one that DATABASE_URL names, or one that is started in a temporary directory.
 */
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Exit, Redacted, Scope } from "effect"

export interface Server {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Durability is not what most tests are about, and every commit would wait for the disk. */
const FAST = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "200",
  deadlock_timeout: "100ms",
}

export const start = async (): Promise<Server> => {
  const given = process.env["DATABASE_URL"]
  if (given !== undefined && given !== "") return { url: given, stop: async () => {} }
  const directory = await mkdtemp(join(tmpdir(), "billwright-test-"))
  await chmod(directory, 0o711) // for root, whose Postgres runs as another user
  const scope = Scope.makeUnsafe()
  const server = await Effect.runPromise(
    Scope.provide(EmbeddedPostgres.start({ directory: join(directory, "data"), settings: FAST }), scope),
  )
  return {
    url: Redacted.value(server.url),
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await rm(directory, { recursive: true, force: true })
    },
  }
}
