/**
 * What a failure of Postgres means: whether to try again, and what to tell the caller.
 */
import { StorageError } from "@billwright/core"
import { SqlError } from "effect/sql"
import { TransactionGone } from "./host/TransactionGone.ts"

/**
 * - `transient`: over soon, and nothing was done. The statement or transaction is tried again in place.
 * - `unknown`: the connection broke without an answer. Nothing was done, unless it was asked to commit.
 * - `unavailable`: nothing was done, and it may work later, but not at once (read-only, disk full).
 * - `permanent`: nothing was done, and a repeat would fail, too.
 */
export type FailureKind = "transient" | "unknown" | "unavailable" | "permanent"

const KINDS: Readonly<Record<string, FailureKind>> = {
  "25006": "unavailable", // read_only_sql_transaction: a standby, until it is promoted
  "25P02": "transient", // in_failed_sql_transaction: something before it failed, and the whole is repeated
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

/** Postgres has no classes P1 to P9: the errors of Prisma, which wrap those of the driver, have such codes of their own. */
const SQLSTATE = /^(?!P[1-9])[0-9A-Z]{5}$/
/** Wrappers around a driver's error that are looked through. */
const MAX_DEPTH = 8

const field = (value: object, name: string): unknown => (value as Record<string, unknown>)[name]

/** What a database has answered, by whatever driver. */
interface Refusal {
  readonly state: string
  readonly error: object
}

/** The part of an error of any driver that has an SQLSTATE, at whatever depth it is wrapped. */
const refusalIn = (error: unknown, depth = 0): Refusal | undefined => {
  if (typeof error !== "object" || error === null || depth > MAX_DEPTH) return undefined
  for (const name of ["code", "sqlState", "originalCode"]) {
    const state = field(error, name)
    // Node's own errors have codes such as EPIPE, and a system call to blame.
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

/** The SQLSTATE of an error of any driver, at whatever depth it is wrapped; `undefined` when it has none. */
export const sqlState = (error: unknown): string | undefined => refusalIn(error)?.state

/** What `pg` says, without a SQLSTATE, when Postgres asks for a password and there is none. */
const NO_PASSWORD = /client password must be a (non-empty )?string/
/** Class 28: invalid authorization specification. */
const REFUSED_LOGIN = /^28/
/** The SQLSTATE of that, for a login that the driver gives up before Postgres refuses it. */
const NO_LOGIN = "28000"

/**
 * Whether an error of any driver, at whatever depth it is wrapped, says that the user or its password is refused or
 * missing: trying again is of no use.
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

/** Judges a failure of a statement, of BEGIN or of COMMIT. */
export const kindOf = (error: SqlError.SqlError): FailureKind => {
  // Nothing was asked yet.
  if (error.reason._tag === "ConnectionError" && error.reason.operation === "connect") return "transient"
  const state = sqlState(error)
  if (state === undefined) return error.reason._tag === "ConnectionError" ? "unknown" : "permanent"
  return KINDS[state] ?? KINDS_OF_CLASSES[state.slice(0, 2)] ?? "permanent"
}

/** Classes of SQLSTATE whose messages name objects of the schema, never a value. */
const NAMING_CLASSES = new Set(["08", "23", "25", "26", "28", "3D", "3F", "40", "42", "53", "55", "57", "58"])

/** What Postgres says of where something failed. */
const PLACES = ["severity", "schema", "table", "column", "constraint", "routine"]

/** The error at the bottom of wrappers: they repeat it, and some of them the parameters of the statement. */
const bottomOf = (error: unknown, depth = 0): Error | undefined => {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return undefined
  return bottomOf(error.cause ?? field(error, "reason"), depth + 1) ?? error
}

const assigned = (error: Error, fields: Readonly<Record<string, unknown>>): Error =>
  Object.assign(error, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)))

/** Whether the failure is that the transaction of the call is over, which callers are told by this very error. */
const isGone = (error: unknown, depth = 0): boolean =>
  error instanceof TransactionGone ||
  (error instanceof Error && depth <= MAX_DEPTH && isGone(error.cause ?? field(error, "reason"), depth + 1))

/**
 * What a host may log of a failure: SQLSTATE, the sentence and the names of table and constraint. Not what else Postgres
 * and drivers tell: DETAIL (`Failing row contains (…)`) and CONTEXT show rows, and other fields parameters.
 */
const withoutValues = (cause: unknown): Error => {
  if (isGone(cause)) return new TransactionGone()
  const refusal = refusalIn(cause)
  if (refusal === undefined) {
    const bottom = bottomOf(cause)
    if (bottom === undefined) return new Error("the driver of the database failed")
    const code = isLoginRefused(cause) ? NO_LOGIN : field(bottom, "code")
    // Several addresses that refused make an error without a message.
    const message = bottom.message === "" ? String(code) : bottom.message
    return assigned(new Error(message), { code, syscall: field(bottom, "syscall") })
  }
  const { error, state } = refusal
  const message = field(error, "message")
  const isTold =
    typeof message === "string" && error instanceof Error && NAMING_CLASSES.has(state.slice(0, 2))
  const places = Object.fromEntries(PLACES.map((name) => [name, field(error, name)]))
  return assigned(new Error(isTold ? message : `the database refused it with SQLSTATE ${state}`), {
    code: state,
    ...places,
  })
}

/** The error for a caller, when trying again in place is over, and nothing was done. */
export const toStorageError = (operation: string, cause: unknown, retryable: boolean): StorageError =>
  new StorageError({ operation, retryable, cause: withoutValues(cause) })

/** The error for a caller who has to ask again what became of the call. */
export const outcomeUnknown = (operation: string, cause: unknown): StorageError =>
  new StorageError({ operation, retryable: false, isOutcomeUnknown: true, cause: withoutValues(cause) })

/** The answer did not come in time. What only reads, or was rolled back, can be tried again. */
export const tooLate = (operation: string, deadlineMillis: number, retryable: boolean): StorageError => {
  const cause = new Error(`no answer from the database within ${deadlineMillis} ms`)
  return retryable ? toStorageError(operation, cause, true) : outcomeUnknown(operation, cause)
}

/** A COMMIT was sent, and nobody can say whether it was carried out. */
export const commitUnknown = (cause: unknown): StorageError =>
  outcomeUnknown(
    "Transactor.atomically",
    new Error(
      "the connection was lost during COMMIT, and whether it was carried out could not be found out",
      {
        cause: withoutValues(cause),
      },
    ),
  )

/** A `SqlError` anywhere at the top of an error or defect. */
export const asSqlError = (error: unknown): SqlError.SqlError | undefined =>
  SqlError.isSqlError(error) ? error : undefined
