/**
 * Recognizes which database library a transaction of the host belongs to.
 */
import { type HostClient, HostBridge } from "@billwright/postgres"
import { ConfigurationError } from "../errors/RuntimeError.ts"

interface Candidate {
  readonly query?: unknown
  readonly unsafe?: unknown
  readonly totalCount?: unknown
  readonly executeQuery?: unknown
  readonly execute?: unknown
  readonly $queryRawUnsafe?: unknown
  readonly getTransactionStatus?: () => string | null
  /** A private field of `pg`, which has no public one for it. */
  readonly _ending?: unknown
}

const refuse = (sentence: string): never => {
  throw new ConfigurationError(`transaction(client, …): ${sentence}`)
}

/** Recognizes a transaction by its methods. Throws a `ConfigurationError` that says what to pass. */
export const toHostClient = (transaction: unknown): HostClient => {
  if ((typeof transaction !== "object" && typeof transaction !== "function") || transaction === null) {
    return refuse("pass the client that you sent BEGIN on")
  }
  const candidate = transaction as Candidate
  if (typeof candidate.unsafe === "function") {
    return HostBridge.fromPostgresJs(transaction as Parameters<typeof HostBridge.fromPostgresJs>[0])
  }
  if (typeof candidate.$queryRawUnsafe === "function") {
    return HostBridge.fromPrisma(transaction as Parameters<typeof HostBridge.fromPrisma>[0])
  }
  if (typeof candidate.executeQuery === "function") {
    return refuse("wrap Kysely's trx: fromKysely(trx, CompiledQuery) of billwright/postgres")
  }
  if (typeof candidate.query !== "function" || typeof candidate.execute === "function") {
    return refuse(
      "wrap Drizzle's tx: fromDrizzle(tx, sql) of billwright/postgres; for other libraries, pass an object with query(text, values)",
    )
  }
  if (candidate.totalCount !== undefined) {
    return refuse(
      "a pool has no transaction: get a client with pool.connect(), send BEGIN on it, and pass the client",
    )
  }
  if (candidate._ending === true) return refuse("this client has been ended: pass a connected one")
  if (candidate.getTransactionStatus?.() === "I") {
    return refuse("this client is not in a transaction: send BEGIN on it first")
  }
  return transaction as HostClient
}
