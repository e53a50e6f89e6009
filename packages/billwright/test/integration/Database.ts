/** A fresh database for a test file, in the server of the run. */
import { randomBytes } from "node:crypto"
import { Client } from "pg"
import { inject } from "vitest"

declare module "vitest" {
  export interface ProvidedContext {
    readonly serverUrl: string
  }
}

/** Runs a statement outside of any library code. */
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
  // Without force: a pool's connections may still be closing, and Postgres waits 5 seconds for them to be gone.
  return { url: url.href, drop: (how = "") => execute(`drop database ${name} ${how}`) }
}
