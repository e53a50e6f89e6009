/**
 * The resources of an account in one mode, embedded and over the API alike.
 */
import type { Customers } from "./customers/Customers.ts"
import type { Thresholds } from "./usage/Thresholds.ts"

export type * from "./customers/Customers.ts"
export type * from "./usage/Thresholds.ts"

/** Calls that are the same for `createBilling` and `createClient`. */
export interface ResourceCalls {
  /** Whom usage and events belong to. */
  readonly customers: Customers
  /** Events when a customer has used so much. */
  readonly thresholds: Thresholds
}
