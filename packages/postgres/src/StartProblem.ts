/**
 * Says why a database can't be used at the start, and what to do about it.
 */
import { isLoginRefused, sqlState } from "./StorageFailure.ts"

export interface StartProblem {
  readonly problem: string
  readonly advice: string
}

/** How the caller says what the advice is about. */
export interface StartNames {
  /** Where the user, the password and the name of the database are given. */
  readonly connection: string
  /** What to do when the user lacks a privilege. */
  readonly privilege: string
}

/** By SQLSTATE. */
const BY_STATE: Readonly<Record<string, (names: StartNames) => StartProblem>> = {
  "3D000": ({ connection }) => ({
    problem: "there is no database with this name",
    advice: `create it, or correct the name in ${connection}`,
  }),
  "42501": ({ privilege }) => ({ problem: "the database user lacks a privilege", advice: privilege }),
  "25006": () => ({
    problem: "the database is read-only, but its schema must be migrated",
    advice: "connect to the primary, or turn default_transaction_read_only off",
  }),
}

/** `undefined` for a failure that says itself what is wrong, or that may pass. */
export const startProblemOf = (failure: unknown, names: StartNames): StartProblem | undefined =>
  isLoginRefused(failure)
    ? {
        problem: "Postgres refused the login of this user",
        advice: `correct the user or password in ${names.connection}, or the rules in pg_hba.conf`,
      }
    : BY_STATE[sqlState(failure) ?? ""]?.(names)
