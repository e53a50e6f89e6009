/**
 * One server for the whole run. Every test file creates a database in it.
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
