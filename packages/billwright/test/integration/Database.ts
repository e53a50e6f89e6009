/** A new database for a test file, on the Postgres of the test run. */
import { randomBytes } from "node:crypto"
import { Client } from "pg"
import { inject } from "vitest"

declare module "vitest" {
  export interface ProvidedContext {
    readonly serverUrl: string
  }
}

/** Runs a statement without the library. */
const execute = async (statement: string): Promise<void> => {
  const client = new Client({ connectionString: inject("serverUrl") })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

export const makeDatabase = async () => {
  const name = `test_${randomBytes(8).toString("hex")}`
  await execute(`create database ${name}`)
  const url = new URL(inject("serverUrl"))
  url.pathname = `/${name}`
  // Not with force, because connections of a pool may still be closing. Postgres waits 5 seconds for their end.
  return { url: url.href, drop: (how = "") => execute(`drop database ${name} ${how}`) }
}
