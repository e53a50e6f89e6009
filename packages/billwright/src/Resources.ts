/**
 * The resources of an account in one mode. They are the same for `createBilling` and `createClient`.
 */
import type { Customers } from "./customers/Customers.ts"
import type { Thresholds } from "./usage/Thresholds.ts"

export type * from "./customers/Customers.ts"
export type * from "./usage/Thresholds.ts"

/** Calls that `createBilling` and `createClient` have in common. */
export interface ResourceCalls {
  /** The customers that usage and events belong to. */
  readonly customers: Customers
  /** Usage thresholds: each publishes an event when a customer's usage reaches a set total. */
  readonly thresholds: Thresholds
}
