/**
 * One server for the whole run; every test file makes a database of its own in it.
 */
import type { TestProject } from "vitest/node"
import { forRun } from "./Server.ts"

declare module "vitest" {
  export interface ProvidedContext {
    readonly serverUrl: string
  }
}

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const server = await forRun()
  project.provide("serverUrl", server.url)
  return server.stop
}
