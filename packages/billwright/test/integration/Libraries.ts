/** The transactions of a host on each library that the adapters support. */
import { fromDrizzle, fromKysely } from "billwright/postgres"
import { sql } from "drizzle-orm"
import { drizzle } from "drizzle-orm/node-postgres"
import { CompiledQuery, Kysely, PostgresDialect } from "kysely"
import type { Pool } from "pg"
import postgresJs from "postgres"
import { makePrisma } from "./Prisma.ts"

/** A connection, and transactions on it. */
export interface Library {
  readonly begin: (
    work: (client: object, execute: (statement: string) => Promise<unknown>) => Promise<unknown>,
  ) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

/**
 * Makes transactions on each library that the adapters support. `target` has the URL of a database and a pool of it, which
 * exist only once the tests run.
 */
export const librariesOn = (
  target: () => { readonly url: string; readonly pool: Pool },
): Readonly<Record<string, () => Library>> => ({
  pg: () => ({
    begin: async (work) => {
      const client = await target().pool.connect()
      try {
        await client.query("begin")
        await work(client, (statement) => client.query(statement))
        await client.query("commit")
      } catch (error) {
        await client.query("rollback")
        throw error
      } finally {
        client.release()
      }
    },
    close: async () => {},
  }),
  "postgres.js": () => {
    const db = postgresJs(target().url, { onnotice: () => {}, max: 1 })
    return {
      begin: (work) => db.begin((tx) => work(tx, async (statement) => tx.unsafe(statement))),
      close: () => db.end(),
    }
  },
  Drizzle: () => {
    const db = drizzle(target().pool)
    return {
      begin: (work) =>
        db.transaction((tx) =>
          work(fromDrizzle(tx, sql), async (statement) => tx.execute(sql.raw(statement))),
        ),
      close: async () => {},
    }
  },
  Kysely: () => {
    const db = new Kysely({ dialect: new PostgresDialect({ pool: target().pool }) })
    return {
      begin: (work) =>
        db
          .transaction()
          .execute((trx) =>
            work(fromKysely(trx, CompiledQuery), (statement) =>
              trx.executeQuery(CompiledQuery.raw(statement)),
            ),
          ),
      close: async () => {},
    }
  },
  Prisma: () => {
    const prisma = makePrisma(target().pool)
    return {
      begin: (work) => prisma.transaction((tx) => work(tx, (statement) => tx.$executeRawUnsafe(statement))),
      close: prisma.close,
    }
  },
})
