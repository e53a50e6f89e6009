import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
/** A Postgres for a test run: that of DATABASE_URL, or one that is started in a temporary directory. */
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Exit, Redacted, Scope } from "effect"

export interface Server {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Most tests need no durability, and without it no commit waits for the disk. */
const FAST = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "200",
  deadlock_timeout: "100ms",
}

/** The server of a test run. */
export const forRun = async (): Promise<Server> => {
  const given = process.env["DATABASE_URL"]
  if (given !== undefined && given !== "") return { url: given, stop: async () => {} }
  return start()
}

/** Starts a server with the binaries of this package, or with those of `EmbeddedPostgresOptions.packageFolder`. */
export const start = async (packageFolder?: string): Promise<Server> => {
  const directory = await mkdtemp(join(tmpdir(), "billwright-test-"))
  await chmod(directory, 0o711) // for root, whose Postgres runs as another user
  const scope = Scope.makeUnsafe()
  const server = await Effect.runPromise(
    Scope.provide(
      EmbeddedPostgres.start({
        directory: join(directory, "data"),
        settings: FAST,
        ...(packageFolder === undefined ? {} : { packageFolder }),
      }),
      scope,
    ),
  )
  return {
    // Tests make databases and roles.
    url: Redacted.value(server.superuserUrl),
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await rm(directory, { recursive: true, force: true })
    },
  }
}
