/**
 * Explains errors of Postgres, and says what to do about them.
 */
import { Host, sqlState, startProblemOf } from "@billwright/postgres"
import { ConfigurationError, StorageUnavailableError, TransactionEndedError } from "../errors/RuntimeError.ts"
import type { Explanation } from "../runtime/StoreParts.ts"

const NAMES = {
  connection: "the connection",
  privilege:
    "grant it, or let the owner run `npx @billwright/cli migrate --store postgres` and pass migrate: false",
}

const ENDED: Explanation = {
  problem: "the pool has been ended",
  advice: "pass an open pool, and end it only after billing.close()",
}

/** Whether `end()` was called on a pool of `pg`. */
export const isEnded = (pool: unknown): boolean =>
  (pool as { readonly ending?: unknown } | undefined)?.ending === true

/** Why billing can't start on this pool, or on connections of its own. */
export const atStart = (failure: unknown, pool: unknown): Explanation | undefined =>
  isEnded(pool) ? ENDED : startProblemOf(failure, NAMES)

const TRANSACTION = "transaction(client, …):"

/** The most wrappers around an error that are followed: those of the domain, of the client and of the driver. */
const MAX_DEPTH = 8

const isGone = (error: unknown, depth = 0): boolean => {
  if (error instanceof Host.TransactionGone) return true
  return error instanceof Error && depth < MAX_DEPTH && isGone(error.cause, depth + 1)
}

/**
 * Replaces an error of the storage in the host's transaction with one that says what is wrong with the transaction, or
 * what to do with it. Returns other errors unchanged.
 */
export const inTransaction = (error: unknown, schema: string): unknown => {
  if (!(error instanceof StorageUnavailableError)) return error
  const cause = error
  if (isGone(error)) {
    return new TransactionEndedError(
      `${TRANSACTION} your transaction ended before this call, so nothing was written: await transaction(client, …), and every call on its tx, before you commit`,
      { cause },
    )
  }
  switch (sqlState(error)) {
    case "25P02": // in_failed_sql_transaction
      return new StorageUnavailableError(
        `${TRANSACTION} an earlier statement in this transaction failed, so Postgres accepts no more statements: roll it back`,
        { cause, operation: error.operation, isRetryable: false },
      )
    case "3F000": // invalid_schema_name
    case "42P01": // undefined_table
      return new ConfigurationError(
        `${TRANSACTION} the database of this client has no Billwright tables in the schema "${schema}": pass a client of the database that createBilling uses`,
        { cause },
      )
    case "42501": // insufficient_privilege
      return new ConfigurationError(
        `${TRANSACTION} the user of this client lacks privileges on the schema "${schema}": grant them as described in docs/postgres.md`,
        { cause },
      )
    default:
      return failed(error)
  }
}

/**
 * A failed statement fails the host's whole transaction, unless it is behind a savepoint. `pg` doesn't say so: it answers the
 * host's COMMIT with a ROLLBACK that is no error.
 */
const failed = (error: StorageUnavailableError): StorageUnavailableError =>
  new StorageUnavailableError(`${error.message}: roll back your transaction`, {
    cause: error.cause,
    operation: error.operation,
    isRetryable: error.isRetryable,
    isOutcomeUnknown: error.isOutcomeUnknown,
  })
