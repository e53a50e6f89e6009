/**
 * Adapts transactions of other database libraries to `HostClient`. Each function takes the library's transaction by
 * its shape, so none of these libraries is a dependency.
 */
import type { HostClient } from "./HostClient.ts"
import { TransactionGone } from "./TransactionGone.ts"

/** One bridge for each transaction, so that two uses of the transaction share their state. */
const bridges = new WeakMap<object, HostClient>()

const bridge = (transaction: object, query: HostClient["query"]): HostClient => {
  const known = bridges.get(transaction)
  if (known !== undefined) return known
  const client: HostClient = { query }
  bridges.set(transaction, client)
  return client
}

/** Runs a query of a library that refuses statements itself after its transaction has ended. */
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
  // postgres.js wants its own type of parameters. We send only strings and nulls, which that type includes.
  unsafe(text: string, values?: Array<never>): PromiseLike<ReadonlyArray<unknown>>
}): HostClient =>
  bridge(sql, async (text, values) => ({ rows: [...(await sql.unsafe(text, values as Array<never>))] }))

/** Drizzle's `sql`, which builds a query from parts. Pass \`sql\` of \`drizzle-orm\`. */
interface DrizzleSql<Sql> {
  raw(text: string): Sql
  param(value: unknown): unknown
  join(parts: Array<never>): Sql
}

/**
 * The `tx` of `db.transaction(async (tx) => …)` of Drizzle, with its `sql`. Works with its drivers `node-postgres`,
 * `postgres-js` and others whose `execute` returns rows.
 */
export const fromDrizzle = <Sql>(
  transaction: { execute(query: Sql): PromiseLike<unknown> },
  sql: DrizzleSql<Sql>,
): HostClient =>
  bridge(transaction, async (text, values) => {
    // When the text is split at $1, $2, …, every second part is the number of a parameter.
    const parts = text.split(/\$(\d+)/)
    const chunks = parts.map((part, index) =>
      index % 2 === 0 ? sql.raw(part) : sql.param(values[Number(part) - 1]),
    )
    const result = await transaction.execute(sql.join(chunks as Array<never>))
    const rows = Array.isArray(result) ? result : (result as { readonly rows: ReadonlyArray<unknown> }).rows
    return { rows: rows as ReadonlyArray<unknown> }
  })

/** The `trx` of `db.transaction().execute(async (trx) => …)` of Kysely. Pass its `CompiledQuery`, too. */
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
