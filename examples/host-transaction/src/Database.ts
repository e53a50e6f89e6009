/**
 * The database of DATABASE_URL, or a temporary one that is started for this run and removed at the end.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Redacted } from "effect"

export const withDatabase = async (use: (url: string) => Promise<void>): Promise<void> => {
  const given = process.env["DATABASE_URL"]
  if (given !== undefined && given !== "") return use(given)
  const folder = await mkdtemp(join(tmpdir(), "billwright-shop-"))
  try {
    await EmbeddedPostgres.start({ directory: join(folder, "data") }).pipe(
      Effect.flatMap((server) => Effect.promise(() => use(Redacted.value(server.url)))),
      Effect.scoped,
      Effect.runPromise,
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
