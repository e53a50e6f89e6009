/**
 * Usage thresholds: an event when a customer has used so much.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** What a threshold's total is counted over: a UTC day, a UTC month, or all time. */
export type ThresholdPeriod = "day" | "month" | "lifetime"

/** Fires once a period, as the event `usage.threshold`, with the record that finds its total reached. */
export interface Threshold {
  /** `thr_…` */
  readonly id: string
  readonly customerId: string
  readonly productId: string
  readonly unit: string
  /** The total that fires it. */
  readonly quantity: bigint
  readonly period: ThresholdPeriod
  readonly createdAt: Date
  /** When it last fired, for any of its periods. */
  readonly lastFiredAt: Date | null
}

/** A new threshold. Usage from before counts, but fires it only with the next record of the period. */
export interface CreateThreshold {
  readonly customerId: string
  /** The meter that is watched: this product … */
  readonly productId: string
  /** … in this unit. */
  readonly unit: string
  /** An integer from 1 to 10^30; beyond 2^53 − 1 a `bigint`. */
  readonly quantity: number | bigint
  readonly period: ThresholdPeriod
}

/** Which thresholds, newest first. */
export interface ListThresholds extends PageQuery {
  readonly customerId?: string | undefined
}

/**
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `ThresholdNotFoundError`, `LimitReachedError` (100 for a
 * customer, product and unit).
 */
export interface Thresholds {
  create(input: CreateThreshold, options?: CallOptions): Promise<Threshold>
  get(id: string, options?: CallOptions): Promise<Threshold>
  /** It won't fire again. */
  delete(id: string, options?: CallOptions): Promise<void>
  list(query?: ListThresholds, options?: CallOptions): Listing<Threshold>
}
