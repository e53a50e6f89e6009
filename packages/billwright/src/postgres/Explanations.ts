/**
 * What Postgres means by its refusals, and what to do about them.
 */
import { Host, isLoginRefused, sqlState } from "@billwright/postgres"
import { ConfigurationError, StorageUnavailableError, TransactionEndedError } from "../errors/RuntimeError.ts"
import type { Explanation } from "../runtime/StoreParts.ts"

const NO_ENTRY: Explanation = {
  problem: "Postgres doesn't let this user in",
  advice: "give the right user and password, or correct what pg_hba.conf says of it",
}

/** By SQLSTATE. */
const AT_START: Readonly<Record<string, Explanation>> = {
  "3D000": {
    problem: "there is no database of this name",
    advice: "create it, or correct the name in the connection",
  },
  "42501": {
    problem: "this user of the database lacks a right",
    advice:
      "grant it, or have the owner run `npx @billwright/cli migrate --store postgres`, and pass migrate: false",
  },
  "25006": {
    problem: "the database is read-only, and its schema is to be migrated",
    advice: "connect to the primary, or turn default_transaction_read_only off",
  },
}

const ENDED: Explanation = {
  problem: "the pool was ended",
  advice: "pass one that is open, and end it after billing.close()",
}

/** Whether `end()` of a pool of `pg` was called. */
export const isEnded = (pool: unknown): boolean =>
  (pool as { readonly ending?: unknown } | undefined)?.ending === true

/** Why billing can't start on a pool, or on connections of its own. */
export const atStart = (failure: unknown, pool: unknown): Explanation | undefined => {
  if (isEnded(pool)) return ENDED
  return isLoginRefused(failure) ? NO_ENTRY : AT_START[sqlState(failure) ?? ""]
}

const TRANSACTION = "transaction(client, …):"

/** How deep an error may be wrapped: by the domain's, by the client's, by the driver's. */
const MAX_DEPTH = 8

const isGone = (error: unknown, depth = 0): boolean => {
  if (error instanceof Host.TransactionGone) return true
  return error instanceof Error && depth < MAX_DEPTH && isGone(error.cause, depth + 1)
}

/** The error of a call in a transaction of the host's that says what is wrong with that; or what it is given. */
export const inTransaction = (error: unknown, schema: string): unknown => {
  if (!(error instanceof StorageUnavailableError)) return error
  const cause = error
  if (isGone(error)) {
    return new TransactionEndedError(
      `${TRANSACTION} the transaction that the client was in then is not the one on its connection any more, and nothing was done: await transaction(client, …), and every call on its tx, before you commit`,
      { cause },
    )
  }
  switch (sqlState(error)) {
    case "25P02": // in_failed_sql_transaction
      return new StorageUnavailableError(
        `${TRANSACTION} the transaction has failed before, and Postgres takes nothing more in it: roll it back`,
        { cause, operation: error.operation, isRetryable: false },
      )
    case "3F000": // invalid_schema_name
    case "42P01": // undefined_table
      return new ConfigurationError(
        `${TRANSACTION} the database of this client has no tables of Billwright in a schema "${schema}": pass a client of the database that createBilling was given`,
        { cause },
      )
    case "42501": // insufficient_privilege
      return new ConfigurationError(
        `${TRANSACTION} the user of this client lacks rights on the schema "${schema}": grant them, as docs/postgres.md says`,
        { cause },
      )
    default:
      return error
  }
}
