/**
 * Usage: records, corrections and exact totals.
 */
import type { CallOptions, Instant } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** A quantity that a customer used at an instant, of one product in one unit. */
export interface UsageRecord {
  /** `usg_…` */
  readonly id: string
  readonly customerId: string
  readonly productId: string
  /** An integer from 0 to 2^53 − 1. */
  readonly quantity: number
  readonly unit: string
  /** What else is known about the usage. `{}` when nothing was given. */
  readonly dimensions: Readonly<Record<string, string>>
  /** When the usage happened. The record counts in the period of this instant, however late it arrives. */
  readonly timestamp: Date
  readonly idempotencyKey: string | null
  /** When the record was voided. Since then its quantity doesn't count. */
  readonly voidedAt: Date | null
  /** When the record arrived. */
  readonly createdAt: Date
}

/** Usage to record. It never changes: a correction is a void and a new record. */
export interface RecordUsage {
  /** The customer. It must exist and not be erased. */
  readonly customerId: string
  /** Your own id for the product: 1 to 255 characters. */
  readonly productId: string
  /** An integer from 0 to 2^53 − 1. */
  readonly quantity: number | bigint
  /** What the quantity counts: 1 to 64 characters. Quantities of different units are never added. */
  readonly unit: string
  /**
   * What else is known about the usage, such as `{ model: "opus", kind: "input" }`. At most 8 names of 1 to 40
   * characters, each with a text of 1 to 100 characters.
   */
  readonly dimensions?: Readonly<Record<string, string>> | undefined
  /** When it was used. Default: now. At most 5 minutes ahead. */
  readonly timestamp?: Instant | undefined
  /**
   * Makes sure that the record is counted only once. A second call with the same key and content returns the first
   * record. Keys never expire. 1 to 255 characters.
   */
  readonly idempotencyKey?: string | undefined
}

/**
 * A record. `isDuplicate` is true when its idempotency key was used before; `record` is then the first record with
 * the key.
 */
export interface RecordedUsage {
  readonly record: UsageRecord
  readonly isDuplicate: boolean
}

/**
 * Filters by dimensions that a meter declares: for each, the values that match. Values of one dimension are
 * alternatives, and all dimensions must match. At most 100 values of each.
 */
export type UsageWhere = Readonly<Record<string, ReadonlyArray<string>>>

/**
 * Selects the usage to sum up. Days are `YYYY-MM-DD` in the time zone, and both are inclusive. Without them, all
 * usage is summed up.
 */
export interface UsageSummaryQuery {
  readonly customerId: string
  readonly productId?: string | undefined
  readonly unit?: string | undefined
  /** The key of a meter. It is of one product and unit, so those can't be given with it. */
  readonly meter?: string | undefined
  /** Only records with these dimensions. Needs a meter that declares them. */
  readonly where?: UsageWhere | undefined
  /** One or several dimensions of the meter: the answer then has `groups`, at most 1,000. */
  readonly groupBy?: string | ReadonlyArray<string> | undefined
  readonly startDate?: string | undefined
  readonly endDate?: string | undefined
  /** An IANA name such as `Europe/Berlin`. Default UTC. */
  readonly timezone?: string | undefined
}

/** The value of the records with the same dimensions. */
export interface UsageGroup {
  /** The values of the dimensions that the summary is grouped by. `null` for records without the dimension. */
  readonly dimensions: Readonly<Record<string, string | null>>
  readonly totalQuantity: bigint
  /** As in the summary. */
  readonly denominator: bigint
  readonly recordCount: number
}

/** The exact total of a customer's usage in one unit, or the exact value of a meter. */
export interface UsageSummary {
  readonly customerId: string
  /** The meter of the query. */
  readonly meter: string | null
  /** The product of the query, or of its meter. */
  readonly productId: string | null
  /**
   * The exact sum of all records that are not voided, or what the aggregation of the meter makes of them. It has no
   * upper limit.
   */
  readonly totalQuantity: bigint
  /**
   * What to divide `totalQuantity` by: 1, except for a meter with the aggregation `time_weighted`. There it is the
   * length of the period in milliseconds, and the quotient is the average level.
   */
  readonly denominator: bigint
  /** `null` when there is no usage and the query has no unit. */
  readonly unit: string | null
  /** The number of records in the total. */
  readonly recordCount: number
  /** In the order of their dimensions' values, `null` first. Present when the query has `groupBy`. */
  readonly groups?: ReadonlyArray<UsageGroup>
  readonly startDate: string | null
  readonly endDate: string | null
  readonly timezone: string
  /** The instant at which the first day starts. */
  readonly periodStart: Date | null
  /** The instant at which the last day ends, exclusive. */
  readonly periodEnd: Date | null
}

/** Selects the usage of a chart. At most 1,000 windows and 10,000 points. */
export interface UsageSeriesQuery {
  readonly customerId: string
  readonly productId?: string | undefined
  readonly unit?: string | undefined
  /** The first day, `YYYY-MM-DD`, in the time zone. */
  readonly startDate: string
  /** The last day, inclusive. */
  readonly endDate: string
  /** An IANA name such as `Europe/Berlin`. Default UTC. */
  readonly timezone?: string | undefined
  /** The length of a window, in the calendar of the time zone. */
  readonly window: "hour" | "day" | "month"
  /** The key of a meter. It is of one product and unit, so those can't be given with it. */
  readonly meter?: string | undefined
  /** Only records with these dimensions. Needs a meter that declares them. */
  readonly where?: UsageWhere | undefined
  /**
   * With a meter, one or several of its dimensions: returns one point for each combination of values in each window.
   * Without a meter, `"product_id"`: returns one point for each product and unit in each window.
   */
  readonly groupBy?: string | ReadonlyArray<string> | undefined
}

/** The total of one window. Windows without usage are included, with 0. */
export interface UsagePoint {
  readonly start: Date
  readonly end: Date
  readonly productId: string | null
  readonly unit: string | null
  readonly quantity: bigint
  /** As in `UsageSummary`, for the length of the window. */
  readonly denominator: bigint
  readonly recordCount: number
  /** The values of the dimensions that the series is grouped by. Present when a meter is grouped. */
  readonly dimensions?: Readonly<Record<string, string | null>>
}

/** Selects records, in the order of their arrival, latest first. Voided records are included. */
export interface ListUsageRecords extends PageQuery {
  readonly customerId: string
  readonly productId?: string | undefined
  readonly unit?: string | undefined
  /** Only records of the meter with this key. Neither `productId` nor `unit` can be given with it. */
  readonly meter?: string | undefined
  /** Only records with these dimensions. Needs a meter that declares them. */
  readonly where?: UsageWhere | undefined
}

/** A roll-up whose total differs from that of its records. The cause is a bug or a damaged database. */
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
  /** The meter of the roll-up; `null` for the totals of product and unit. */
  readonly meterKey: string | null
  /** The values of the meter's dimensions. */
  readonly combination: ReadonlyArray<string | null> | null
}

/**
 * Exact metering. When a call has resolved, its records are durable and every later total includes them. Inside a
 * transaction, this holds once the transaction has committed.
 *
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `UsageRecordNotFoundError`, `UsageKeyConflictError`.
 */
export interface Usage {
  /**
   * Records usage. Calls that are made at the same time may share a database transaction, which makes them faster.
   * Each still succeeds or fails on its own.
   */
  record(input: RecordUsage, options?: CallOptions): Promise<RecordedUsage>
  /** Records 1 to 1,000 entries, either all of them or none. Results are in the order of the input. */
  recordBatch(
    records: ReadonlyArray<RecordUsage>,
    options?: CallOptions,
  ): Promise<ReadonlyArray<RecordedUsage>>
  /** Returns a record, even when it is voided or its customer is erased. */
  getRecord(id: string, options?: CallOptions): Promise<UsageRecord>
  /** Lists the records of a customer, even of an erased one. */
  listRecords(query: ListUsageRecords, options?: CallOptions): Listing<UsageRecord>
  /**
   * Removes a record's quantity from all totals. The record and its idempotency key are kept. Voiding a record
   * again changes nothing and returns it.
   */
  voidRecord(id: string, options?: CallOptions): Promise<UsageRecord>
  /** Fails with `InvalidInputError` on `unit` when the period has usage in several units. */
  summary(query: UsageSummaryQuery, options?: CallOptions): Promise<UsageSummary>
  /** The totals of consecutive windows, in time order. */
  series(query: UsageSeriesQuery, options?: CallOptions): Promise<ReadonlyArray<UsagePoint>>
  /** Compares every roll-up with its records. It reads all records. */
  audit(options?: CallOptions): Promise<ReadonlyArray<UsageDiscrepancy>>
}
