/**
 * A new database for a test file.
 */
import { randomBytes } from "node:crypto"
import { Host, PostgresClient } from "@billwright/postgres"
import { Effect, Layer, Redacted } from "effect"
import { Client, Pool } from "pg"
import { inject } from "vitest"
import { execute } from "./Execute.ts"

export { execute }

const urlOf = (database: string): string => {
  const url = new URL(inject("serverUrl"))
  url.pathname = `/${database}`
  return url.href
}

/** The SQLSTATE for a database that still has connections. */
const IN_USE = "55006"

/**
 * Drops a database. An ended pool may still be closing its connections. Postgres waits 5 seconds for them, so that
 * none is cut off while nobody listens to its errors. Only connections that a test has left open are cut off.
 */
const drop = async (name: string): Promise<void> => {
  const statement = `drop database if exists ${name}`
  try {
    await execute(inject("serverUrl"), statement)
  } catch (error) {
    if ((error as { readonly code?: string }).code !== IN_USE) throw error
    await execute(inject("serverUrl"), `${statement} with (force)`)
  }
}

const copyOf = (template: () => string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const name = `test_${randomBytes(8).toString("hex")}`
      await execute(inject("serverUrl"), `create database ${name} template ${template()}`)
      return { name, url: urlOf(name) }
    }),
    ({ name }) => Effect.promise(() => drop(name)),
  ).pipe(Effect.map(({ url }) => url))

/** The URL of a new database whose schema is up to date. It is dropped when the scope closes. */
export const make = copyOf(() => inject("templateDatabase"))

/** The URL of a new database with nothing in it. It is dropped when the scope closes. */
export const empty = copyOf(() => "template1")

/** A client that is not the library's, until the scope closes. */
export const administrator = (connectionString: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ connectionString })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end()),
  )

type Options = Partial<PostgresClient.ClientOptions>

const clientOf =
  (database: typeof make) =>
  (options: Options = {}) =>
    Layer.unwrap(Effect.map(database, (url) => PostgresClient.layer({ url: Redacted.make(url), ...options })))

/** A client of a new database whose schema is up to date. */
export const layerClient = clientOf(make)

/** A client of a new database with nothing in it. */
export const layerEmpty = clientOf(empty)

/** A client on a host's pool. */
export const layerHostPool = <E, R>(url: Effect.Effect<string, E, R>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const connectionString = yield* url
      const pool = yield* Effect.acquireRelease(
        Effect.sync(() => new Pool({ connectionString, max: 10 })),
        (made) => Effect.promise(() => made.end()),
      )
      return Host.fromPool(pool)
    }),
  )
