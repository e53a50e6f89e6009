/**
 * Classifies failures of Postgres: whether to try again, and what to tell the caller.
 */
import { StorageError } from "@billwright/core"
import { SqlError } from "effect/sql"
import { TransactionGone } from "./host/TransactionGone.ts"

/**
 * - `transient`: a temporary failure, and nothing was done. The statement or transaction is repeated at once.
 * - `unknown`: the connection broke without an answer. Nothing was done, unless COMMIT had been sent.
 * - `unavailable`: nothing was done. It may work later, but not at once (read-only server, disk full).
 * - `permanent`: nothing was done, and a repeat would fail too.
 */
export type FailureKind = "transient" | "unknown" | "unavailable" | "permanent"

const KINDS: Readonly<Record<string, FailureKind>> = {
  "25006": "unavailable", // read_only_sql_transaction: a standby, until it is promoted
  "25P02": "transient", // in_failed_sql_transaction: an earlier statement failed, so the whole transaction is repeated
  "25P03": "transient", // idle_in_transaction_session_timeout
  "25P04": "transient", // transaction_timeout
  "26000": "transient", // a pooler has lost the prepared statement
  "40001": "transient", // serialization_failure
  "40003": "unknown", // statement_completion_unknown
  "40P01": "transient", // deadlock_detected
  "53300": "transient", // too_many_connections
  "55P03": "transient", // lock_not_available
  "57014": "transient", // query_canceled: also a statement timeout
  "57P01": "transient", // admin_shutdown
  "57P02": "transient", // crash_shutdown
  "57P03": "transient", // cannot_connect_now
  "57P05": "transient", // idle_session_timeout
}

const KINDS_OF_CLASSES: Readonly<Record<string, FailureKind>> = {
  "08": "unknown", // connection exceptions
  "53": "unavailable", // insufficient resources: disk full, out of memory
  "58": "unavailable", // system errors: I/O
}

/** Postgres has no classes P1 to P9. Errors of Prisma have such codes, and wrap the error of the driver. */
const SQLSTATE = /^(?!P[1-9])[0-9A-Z]{5}$/
/** How many levels of wrapping around a driver's error are searched. */
const MAX_DEPTH = 8

const field = (value: object, name: string): unknown => (value as Record<string, unknown>)[name]

/** An error that the database answered with, from any driver. */
interface Refusal {
  readonly state: string
  readonly error: object
}

/** Finds the part of a driver's error that has an SQLSTATE, however deep it is wrapped. */
const refusalIn = (error: unknown, depth = 0): Refusal | undefined => {
  if (typeof error !== "object" || error === null || depth > MAX_DEPTH) return undefined
  for (const name of ["code", "sqlState", "originalCode"]) {
    const state = field(error, name)
    // Node's own errors have codes such as EPIPE, and name a system call.
    if (typeof state === "string" && SQLSTATE.test(state) && field(error, "syscall") === undefined) {
      return { state, error }
    }
  }
  for (const name of ["cause", "meta", "driverAdapterError", "reason"]) {
    const found = refusalIn(field(error, name), depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** The SQLSTATE of any driver's error, however deep it is wrapped; `undefined` when it has none. */
export const sqlState = (error: unknown): string | undefined => refusalIn(error)?.state

/** The message of `pg`, without an SQLSTATE, when Postgres asks for a password and none is set. */
const NO_PASSWORD = /client password must be a (non-empty )?string/
/** Class 28: invalid authorization specification. */
const REFUSED_LOGIN = /^28/
/** The SQLSTATE for a login that the driver gives up before Postgres refuses it. */
const NO_LOGIN = "28000"

/**
 * Whether a driver's error, however deep it is wrapped, says that the user or password is refused or missing. A retry
 * would fail again.
 */
export const isLoginRefused = (error: unknown, depth = 0): boolean => {
  if (typeof error !== "object" || error === null || depth > MAX_DEPTH) return false
  const message = field(error, "message")
  return (
    field(error, "_tag") === "AuthenticationError" ||
    REFUSED_LOGIN.test(sqlState(error) ?? "") ||
    (typeof message === "string" && NO_PASSWORD.test(message)) ||
    ["cause", "reason"].some((name) => isLoginRefused(field(error, name), depth + 1))
  )
}

/** Classifies a failure of a statement, of BEGIN or of COMMIT. */
export const kindOf = (error: SqlError.SqlError): FailureKind => {
  // Nothing was sent yet.
  if (error.reason._tag === "ConnectionError" && error.reason.operation === "connect") return "transient"
  const state = sqlState(error)
  if (state === undefined) return error.reason._tag === "ConnectionError" ? "unknown" : "permanent"
  return KINDS[state] ?? KINDS_OF_CLASSES[state.slice(0, 2)] ?? "permanent"
}

/** Classes of SQLSTATE whose messages contain names of the schema's objects, and never a value. */
const NAMING_CLASSES = new Set(["08", "23", "25", "26", "28", "3D", "3F", "40", "42", "53", "55", "57", "58"])

/** The fields in which Postgres says where something failed. */
const PLACES = ["severity", "schema", "table", "column", "constraint", "routine"]

/** The innermost error. Its wrappers repeat its message, and some of them contain the statement's parameters. */
const bottomOf = (error: unknown, depth = 0): Error | undefined => {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return undefined
  return bottomOf(error.cause ?? field(error, "reason"), depth + 1) ?? error
}

const assigned = (error: Error, fields: Readonly<Record<string, unknown>>): Error =>
  Object.assign(error, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)))

/** Whether the call failed because its transaction is over. Callers get that error itself. */
const isGone = (error: unknown, depth = 0): boolean =>
  error instanceof TransactionGone ||
  (error instanceof Error && depth <= MAX_DEPTH && isGone(error.cause ?? field(error, "reason"), depth + 1))

/**
 * The part of a failure that a host may log: SQLSTATE, message, and the names of table and constraint. It leaves out
 * DETAIL (`Failing row contains (…)`) and CONTEXT, which show rows, and other fields, which show parameters.
 */
const withoutValues = (cause: unknown): Error => {
  if (isGone(cause)) return new TransactionGone()
  const refusal = refusalIn(cause)
  if (refusal === undefined) {
    const bottom = bottomOf(cause)
    if (bottom === undefined) return new Error("the driver of the database failed")
    const code = isLoginRefused(cause) ? NO_LOGIN : field(bottom, "code")
    // When several addresses refuse the connection, the error has no message.
    const message = bottom.message === "" ? String(code) : bottom.message
    return assigned(new Error(message), { code, syscall: field(bottom, "syscall") })
  }
  const { error, state } = refusal
  const message = field(error, "message")
  const isSafeToLog =
    typeof message === "string" && error instanceof Error && NAMING_CLASSES.has(state.slice(0, 2))
  const places = Object.fromEntries(PLACES.map((name) => [name, field(error, name)]))
  return assigned(
    new Error(isSafeToLog ? message : `the database refused the statement with SQLSTATE ${state}`),
    {
      code: state,
      ...places,
    },
  )
}

/** The error when nothing was done and no further attempt is made. */
export const toStorageError = (operation: string, cause: unknown, retryable: boolean): StorageError =>
  new StorageError({ operation, retryable, cause: withoutValues(cause) })

/** The error when the caller has to find out whether the call was carried out. */
export const outcomeUnknown = (operation: string, cause: unknown): StorageError =>
  new StorageError({ operation, retryable: false, isOutcomeUnknown: true, cause: withoutValues(cause) })

/** The error when no answer came in time. A call that only reads, or was rolled back, can be repeated. */
export const tooLate = (operation: string, deadlineMillis: number, retryable: boolean): StorageError => {
  const cause = new Error(`no answer from the database within ${deadlineMillis} ms`)
  return retryable ? toStorageError(operation, cause, true) : outcomeUnknown(operation, cause)
}

/** The error when COMMIT was sent, and it is unknown whether it was carried out. */
export const commitUnknown = (cause: unknown): StorageError =>
  outcomeUnknown(
    "Transactor.atomically",
    new Error(
      "the connection was lost during COMMIT, and it is unknown whether the transaction was committed",
      {
        cause: withoutValues(cause),
      },
    ),
  )

/** The value, if it is a `SqlError` itself. */
export const asSqlError = (error: unknown): SqlError.SqlError | undefined =>
  SqlError.isSqlError(error) ? error : undefined
