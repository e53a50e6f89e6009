/**
 * Usage thresholds, which publish an event when a customer's usage reaches a quantity.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** The period of a threshold's total: a UTC day, a UTC month, or all time. */
export type ThresholdPeriod = "day" | "month" | "lifetime"

/** Publishes the event `usage.threshold` once per period, with the record whose total reaches the quantity. */
export interface Threshold {
  /** `thr_…` */
  readonly id: string
  readonly customerId: string
  readonly productId: string
  readonly unit: string
  /** The total at which it fires. */
  readonly quantity: bigint
  readonly period: ThresholdPeriod
  readonly createdAt: Date
  /** When it last fired, in any of its periods. */
  readonly lastFiredAt: Date | null
}

/** A new threshold. Earlier usage counts, but only the next record of the period can fire it. */
export interface CreateThreshold {
  readonly customerId: string
  /** The product whose usage is watched. */
  readonly productId: string
  /** The unit of the watched usage. */
  readonly unit: string
  /** An integer from 1 to 10^30. Beyond 2^53 − 1 it must be a `bigint`. */
  readonly quantity: number | bigint
  readonly period: ThresholdPeriod
}

/** Selects thresholds, newest first. */
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
  /** Deletes a threshold. It won't fire again. */
  delete(id: string, options?: CallOptions): Promise<void>
  list(query?: ListThresholds, options?: CallOptions): Listing<Threshold>
}
