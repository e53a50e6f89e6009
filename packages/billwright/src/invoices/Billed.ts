/**
 * What subscriptions and invoices have in common.
 */

/** A version of a plan. */
export interface PlanRef {
  readonly key: string
  readonly version: number
}

/** Why something that was due on a subscription or an invoice could not be done. */
export interface DueFailure {
  /** How often it has failed in a row. */
  readonly attempts: number
  /** What went wrong, for people. */
  readonly problem: string
  readonly at: Date
  /** When it is tried again. `null`: not before somebody changes the object, because it failed too often. */
  readonly retryAt: Date | null
}
