/**
 * Other database libraries as a `HostClient`. Each takes the library's transaction by its shape, so that none
 * of them is a dependency.
 */
import type { HostClient } from "./HostClient.ts"
import { TransactionGone } from "./TransactionGone.ts"

/** One bridge for one transaction, so that two uses of it know of each other. */
const bridges = new WeakMap<object, HostClient>()

const bridge = (transaction: object, query: HostClient["query"]): HostClient => {
  const known = bridges.get(transaction)
  if (known !== undefined) return known
  const client: HostClient = { query }
  bridges.set(transaction, client)
  return client
}

/** A query of a library that refuses statements by itself once its transaction has ended. */
const refusing =
  (query: HostClient["query"], isRefusal: (error: Error) => boolean): HostClient["query"] =>
  async (text, values) => {
    try {
      return await query(text, values)
    } catch (error) {
      throw error instanceof Error && isRefusal(error) ? new TransactionGone({ cause: error }) : error
    }
  }

/** The `sql` of `sql.begin(async (sql) => …)` of the package `postgres` (postgres.js). */
export const fromPostgresJs = (sql: {
  // postgres.js wants its own type of parameters; strings and nulls, which are all there are, belong to it.
  unsafe(text: string, values?: Array<never>): PromiseLike<ReadonlyArray<unknown>>
}): HostClient =>
  bridge(sql, async (text, values) => ({ rows: [...(await sql.unsafe(text, values as Array<never>))] }))

/** Builds Drizzle's `sql` from parts; pass \`sql\` of \`drizzle-orm\`. */
interface DrizzleSql<Sql> {
  raw(text: string): Sql
  param(value: unknown): unknown
  join(parts: Array<never>): Sql
}

/**
 * The `tx` of `db.transaction(async (tx) => …)` of Drizzle, with its `sql`. Works on its drivers `node-postgres`,
 * `postgres-js` and others whose `execute` gives rows.
 */
export const fromDrizzle = <Sql>(
  transaction: { execute(query: Sql): PromiseLike<unknown> },
  sql: DrizzleSql<Sql>,
): HostClient =>
  bridge(transaction, async (text, values) => {
    // Every second part of the text between $1, $2, … is a parameter's number.
    const parts = text.split(/\$(\d+)/)
    const chunks = parts.map((part, index) =>
      index % 2 === 0 ? sql.raw(part) : sql.param(values[Number(part) - 1]),
    )
    const result = await transaction.execute(sql.join(chunks as Array<never>))
    const rows = Array.isArray(result) ? result : (result as { readonly rows: ReadonlyArray<unknown> }).rows
    return { rows: rows as ReadonlyArray<unknown> }
  })

/** The `trx` of `db.transaction().execute(async (trx) => …)` of Kysely; pass its `CompiledQuery` too. */
export const fromKysely = <Query>(
  transaction: { executeQuery(query: Query): Promise<{ readonly rows: ReadonlyArray<unknown> }> },
  compiledQuery: { raw(sql: string, parameters?: Array<unknown>): Query },
): HostClient =>
  bridge(
    transaction,
    refusing(
      async (text, values) => transaction.executeQuery(compiledQuery.raw(text, values)),
      ({ message }) => message.startsWith("Transaction is already "),
    ),
  )

/** Prisma's code for a transaction that has ended, or that took longer than its `timeout`. */
const PRISMA_ENDED = "P2028"

/** The `tx` of `prisma.$transaction(async (tx) => …)` of Prisma. */
export const fromPrisma = (transaction: {
  $queryRawUnsafe(text: string, ...values: Array<unknown>): PromiseLike<unknown>
  $executeRawUnsafe(text: string, ...values: Array<unknown>): PromiseLike<unknown>
}): HostClient =>
  bridge(
    transaction,
    refusing(
      async (text, values) => {
        if (/^(savepoint|release|rollback)\b/i.test(text)) {
          await transaction.$executeRawUnsafe(text, ...values)
          return { rows: [] }
        }
        return { rows: (await transaction.$queryRawUnsafe(text, ...values)) as ReadonlyArray<unknown> }
      },
      (error) => "code" in error && error.code === PRISMA_ENDED,
    ),
  )
