/**
 * What is due on a subject by itself: on a subscription or an invoice.
 */
import { type DateTime, Schema } from "effect"

/** Why the last run of what is due on a subject failed. */
export interface DueFailure {
  /** How often it has failed in a row: 1 or more. */
  readonly attempts: number
  /** What went wrong, for people who operate the system. */
  readonly problem: string
  readonly at: DateTime.Utc
  /** When it is tried again. `null`: it is set aside, and runs again after the next change of the subject. */
  readonly retryAt: DateTime.Utc | null
}

/** Which subjects to list by the run that failed: `any` has failed, `set_aside` is not tried again by itself. */
export const FailureFilter = Schema.Literals(["any", "set_aside"])
export type FailureFilter = typeof FailureFilter.Type

/** Whether a subject with such a failure is one of those. `undefined` allows any subject. */
export const isFailure = (filter: FailureFilter | undefined, failure: DueFailure | null): boolean =>
  filter === undefined || (failure !== null && (filter === "any" || failure.retryAt === null))

/** When a subject is due, and how that has gone so far. */
export interface Due {
  /** When the next thing on it is due, in epoch milliseconds. `null`: nothing is. */
  readonly dueAt: number | null
  /** `null` unless what is due has failed. */
  readonly failure: DueFailure | null
}
