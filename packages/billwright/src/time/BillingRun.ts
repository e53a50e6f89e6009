/**
 * Billing what is due.
 */
import type { Instant } from "../Call.ts"

/** What to bill. */
export interface RunDue {
  /** The most subscriptions and invoices to work on: 1 to 1,000,000. Default: until nothing is due. */
  readonly limit?: number | undefined
  /** Only what is due at this instant or before it. Must not be in the future. Default: now. */
  readonly until?: Instant | undefined
  /**
   * `full`, the default: as fast as it can. `background`: one transaction at a time, each followed by a pause as long as the
   * transaction, so that what comes in meanwhile hardly waits. What runs by itself has this pace.
   */
  readonly pace?: "full" | "background" | undefined
}

/** What was done. */
export interface BillingRun {
  /** How many times a subscription was moved on. */
  readonly subscriptions: number
  /** How many invoices were finalized. */
  readonly invoices: number
  /** How many subscriptions and invoices failed. They are tried again later; their `failure` says why. */
  readonly failed: number
  /** Whether the limit ended the run, so that more may be due. */
  readonly hasMore: boolean
}
