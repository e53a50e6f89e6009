/**
 * One Postgres, with one PgBouncer in front of it, for the whole run.
 */
import type { TestProject } from "vitest/node"
import { forRun } from "../Server.ts"
import * as PgBouncer from "./PgBouncer.ts"

declare module "vitest" {
  export interface ProvidedContext {
    readonly serverUrl: string
    /** The same database through PgBouncer. */
    readonly pooledUrl: string
  }
}

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const server = await forRun()
  const stopServer = (error: unknown) => server.stop().then(() => Promise.reject(error))
  const pgBouncer = await PgBouncer.start(server.url).catch(stopServer)
  process.stdout.write(`Tests run through ${pgBouncer.version}.\n`)
  project.provide("serverUrl", server.url)
  project.provide("pooledUrl", pgBouncer.through(server.url))
  return async () => {
    await pgBouncer.stop()
    await server.stop()
  }
}
