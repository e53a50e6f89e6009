/**
 * One server for the whole run, and in it a database whose schema is up to date. Test files create their databases as
 * copies of it, because all migrations take several times as long as a copy.
 */
import { randomBytes } from "node:crypto"
import { Migrations, PostgresClient } from "@billwright/postgres"
import { Effect, Redacted } from "effect"
import type { TestProject } from "vitest/node"
import { execute } from "./Execute.ts"
import { forRun, type Server } from "./Server.ts"

declare module "vitest" {
  export interface ProvidedContext {
    readonly serverUrl: string
    /** The name of a database whose schema is up to date, and that nobody is connected to. */
    readonly templateDatabase: string
  }
}

const makeTemplate = async (server: Server, name: string): Promise<void> => {
  await execute(server.url, `create database ${name}`)
  const url = new URL(server.url)
  url.pathname = `/${name}`
  const client = PostgresClient.layer({ url: Redacted.make(url.href) })
  await Effect.runPromise(Effect.provide(Migrations.run(), client))
}

/** Says where the server is to the other projects of this run, which share it. */
const SHARED = "BILLWRIGHT_TEST_SERVER"

interface Shared {
  readonly url: string
  readonly template: string
}

const start = async (): Promise<Shared & { readonly stop: () => Promise<void> }> => {
  const server = await forRun()
  const template = `template_${randomBytes(8).toString("hex")}`
  const stop = async () => {
    // A server that was given goes on.
    await execute(server.url, `drop database if exists ${template} with (force)`).finally(server.stop)
  }
  try {
    await makeTemplate(server, template)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: server.url, template, stop }
}

/** The set-ups of projects run one after another. What the first one started ends with the run. */
export const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  const provide = ({ template, url }: Shared) => {
    project.provide("serverUrl", url)
    project.provide("templateDatabase", template)
  }
  const shared = process.env[SHARED]
  if (shared !== undefined) {
    provide(JSON.parse(shared) as Shared)
    return undefined
  }
  const { stop, template, url } = await start()
  process.env[SHARED] = JSON.stringify({ url, template } satisfies Shared)
  provide({ url, template })
  return async () => {
    delete process.env[SHARED]
    await stop()
  }
}
