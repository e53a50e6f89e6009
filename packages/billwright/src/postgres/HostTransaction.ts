/**
 * Which client of which library the host's transaction is on.
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
  /** Of `pg`, which has no other sign of it. */
  readonly _ending?: unknown
}

const refuse = (sentence: string): never => {
  throw new ConfigurationError(`transaction(client, …): ${sentence}`)
}

/** Recognises a transaction by its shape. Throws a `ConfigurationError` that says what to pass. */
export const toHostClient = (transaction: unknown): HostClient => {
  if ((typeof transaction !== "object" && typeof transaction !== "function") || transaction === null) {
    return refuse("pass the client that BEGIN was sent on")
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
      "wrap Drizzle's tx: fromDrizzle(tx, sql) of billwright/postgres; of other libraries, pass an object with query(text, values)",
    )
  }
  if (candidate.totalCount !== undefined) {
    return refuse("a pool has no transaction: take a client by pool.connect(), send it BEGIN, and pass that")
  }
  if (candidate._ending === true) return refuse("this client was ended: pass one that is connected")
  if (candidate.getTransactionStatus?.() === "I") {
    return refuse("this client is in no transaction: send it BEGIN first")
  }
  return transaction as HostClient
}
