/**
 * Usage: records, corrections, exact totals.
 */
import type { CallOptions, Instant } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** So much of a meter (product and unit), used by a customer at an instant. */
export interface UsageRecord {
  /** `usg_…` */
  readonly id: string
  readonly customerId: string
  readonly productId: string
  /** An integer from 0 to 2^53 − 1. */
  readonly quantity: number
  readonly unit: string
  /** When the usage happened. The record counts in the period of this instant, however late it arrives. */
  readonly timestamp: Date
  readonly idempotencyKey: string | null
  /** Since when its quantity doesn't count. */
  readonly voidedAt: Date | null
  /** When the record arrived. */
  readonly createdAt: Date
}

/** Usage to record. It never changes: a correction is a void and a new record. */
export interface RecordUsage {
  /** Of a customer that is not erased. */
  readonly customerId: string
  /** Your name of what was used: 1 to 255 characters. */
  readonly productId: string
  /** An integer from 0 to 2^53 − 1. */
  readonly quantity: number | bigint
  /** What the quantity counts: 1 to 64 characters. Quantities of different units are never added. */
  readonly unit: string
  /** When it was used. Default: now. At most 5 minutes ahead. */
  readonly timestamp?: Instant | undefined
  /** Counts the record once, for ever: the same key and content again gives the first record. 1 to 255 characters. */
  readonly idempotencyKey?: string | undefined
}

/** A record, and whether it was there before: `isDuplicate` comes with the first record of the key. */
export interface RecordedUsage {
  readonly record: UsageRecord
  readonly isDuplicate: boolean
}

/** What to sum up. Days are inclusive, `YYYY-MM-DD`, of the time zone; without them, all usage. */
export interface UsageSummaryQuery {
  readonly customerId: string
  readonly productId?: string | undefined
  readonly unit?: string | undefined
  readonly startDate?: string | undefined
  readonly endDate?: string | undefined
  /** An IANA name such as `Europe/Berlin`. Default UTC. */
  readonly timezone?: string | undefined
}

/** The exact total of a customer's usage in one unit. */
export interface UsageSummary {
  readonly customerId: string
  /** The product that was asked for. */
  readonly productId: string | null
  /** The sum of the records that are not voided; exact, whatever its size. */
  readonly totalQuantity: bigint
  /** `null` when there is no usage and no unit was asked for. */
  readonly unit: string | null
  /** How many records the total is made of. */
  readonly recordCount: number
  readonly startDate: string | null
  readonly endDate: string | null
  readonly timezone: string
  /** What the days came to: from this instant … */
  readonly periodStart: Date | null
  /** … up to, and without, this one. */
  readonly periodEnd: Date | null
}

/** What to chart. At most 1,000 windows and 10,000 points. */
export interface UsageSeriesQuery {
  readonly customerId: string
  readonly productId?: string | undefined
  readonly unit?: string | undefined
  /** The first day, `YYYY-MM-DD`, of the time zone. */
  readonly startDate: string
  /** The last day, inclusive. */
  readonly endDate: string
  /** An IANA name such as `Europe/Berlin`. Default UTC. */
  readonly timezone?: string | undefined
  /** How wide a window is, by the calendar of the time zone. */
  readonly window: "hour" | "day" | "month"
  /** One point for each product and unit of each window. */
  readonly groupBy?: "product_id" | undefined
}

/** The total of one window. Windows without usage are there, with 0. */
export interface UsagePoint {
  readonly start: Date
  readonly end: Date
  readonly productId: string | null
  readonly unit: string | null
  readonly quantity: bigint
  readonly recordCount: number
}

/** Which records, those that arrived last first. Voided ones included. */
export interface ListUsageRecords extends PageQuery {
  readonly customerId: string
  readonly productId?: string | undefined
  readonly unit?: string | undefined
}

/** A roll-up that differs from its records: a bug or a damaged database. */
export interface UsageDiscrepancy {
  readonly customerId: string
  readonly productId: string
  readonly unit: string
  /** UTC day, `YYYY-MM-DD`. */
  readonly day: string
  readonly recordsQuantity: bigint
  readonly recordsCount: number
  readonly rollupQuantity: bigint
  readonly rollupCount: number
}

/**
 * Exact metering. When a call has answered, its records are durable and in every total asked afterwards; inside a
 * transaction, when that is committed.
 *
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `UsageRecordNotFoundError`, `UsageKeyConflictError`.
 */
export interface Usage {
  /** Records one. Calls that are made at the same time may share a transaction, which makes them fast and changes nothing else. */
  record(input: RecordUsage, options?: CallOptions): Promise<RecordedUsage>
  /** Records 1 to 1,000, all or nothing. Results in the order given. */
  recordBatch(
    records: ReadonlyArray<RecordUsage>,
    options?: CallOptions,
  ): Promise<ReadonlyArray<RecordedUsage>>
  /** Also one that is voided, or of an erased customer. */
  getRecord(id: string, options?: CallOptions): Promise<UsageRecord>
  /** Also of an erased customer. */
  listRecords(query: ListUsageRecords, options?: CallOptions): Listing<UsageRecord>
  /** Takes a record out of all totals. It stays, and so does its idempotency key; again gives the same. */
  voidRecord(id: string, options?: CallOptions): Promise<UsageRecord>
  /** Fails with `InvalidInputError` on `unit` when the period has usage in several units. */
  summary(query: UsageSummaryQuery, options?: CallOptions): Promise<UsageSummary>
  /** The totals of consecutive windows, in time order. */
  series(query: UsageSeriesQuery, options?: CallOptions): Promise<ReadonlyArray<UsagePoint>>
  /** Compares every roll-up with its records. It reads all of them. */
  audit(options?: CallOptions): Promise<ReadonlyArray<UsageDiscrepancy>>
}
