/**
 * Totals of usage: over one period (a summary) and over consecutive windows (a series).
 */
import { type DateTime, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import { TimeZoneName } from "../shared/TimeZone.ts"
import { GroupByInput, meterFields } from "./MeterFields.ts"
import { CalendarDate, Window } from "./UsagePeriod.ts"
import { ProductId, Unit } from "./UsageRecord.ts"

/** Most points of one series: its windows times its groups, or times the meters with usage on the UTC days of the series. */
export const MAX_SERIES_POINTS = 10_000
/** Most groups of one summary. */
export const MAX_SUMMARY_GROUPS = 1000

/**
 * Which usage to aggregate. The dates are inclusive days in the time zone. Without dates, all usage counts. A meter with
 * the aggregation `time_weighted` needs both dates.
 */
export const SummarizeUsage = Schema.Struct({
  ...meterFields,
  /** Gives the values of groups, too. Needs a meter. */
  groupBy: Schema.optionalKey(GroupByInput),
  customerId: CustomerId,
  productId: Schema.optionalKey(ProductId),
  unit: Schema.optionalKey(Unit),
  startDate: Schema.optionalKey(CalendarDate),
  endDate: Schema.optionalKey(CalendarDate),
  timezone: Schema.optionalKey(TimeZoneName),
})
export interface SummarizeUsage extends Schema.Schema.Type<typeof SummarizeUsage> {}

/** The value of a group of records. */
export interface UsageGroup {
  /** The values of the dimensions that the summary is grouped by; `null` for records without the dimension. */
  readonly dimensions: Readonly<Record<string, string | null>>
  readonly totalQuantity: bigint
  /** As in the summary. */
  readonly denominator: bigint
  readonly recordCount: number
}

/** The exact value of a customer's usage in one unit. */
export interface UsageSummary {
  readonly customerId: CustomerId
  /** The key of the meter that was asked for, or `null`. */
  readonly meter: string | null
  /** The product that was asked for, or `null` for all of them. */
  readonly productId: string | null
  /**
   * The value of all records that are not voided: the sum of their quantities, or what the aggregation of the meter makes
   * of them. It is exact at any size.
   */
  readonly totalQuantity: bigint
  /**
   * What to divide `totalQuantity` by. It is 1, except for `time_weighted`: there the total is level × milliseconds, and
   * this is the length of the period in milliseconds, so that the quotient is the average level.
   */
  readonly denominator: bigint
  /** The unit of the total. `null` when there is no usage and its unit is not known. */
  readonly unit: string | null
  /** How many records the value is made of. */
  readonly recordCount: number
  /** The values of the groups, in the order of their dimensions' values, `null` first. Present in a grouped summary. */
  readonly groups?: ReadonlyArray<UsageGroup>
  /** The dates and the time zone of the query. */
  readonly startDate: string | null
  readonly endDate: string | null
  readonly timezone: string
  /** The first instant of the period. `null` when there is no start date. */
  readonly periodStart: DateTime.Utc | null
  /** The first instant after the period. `null` when there is no end date. */
  readonly periodEnd: DateTime.Utc | null
}

/** The query of a series. Both dates are required, because they limit the number of windows. */
export const SeriesUsage = Schema.Struct({
  ...meterFields,
  customerId: CustomerId,
  productId: Schema.optionalKey(ProductId),
  unit: Schema.optionalKey(Unit),
  startDate: CalendarDate,
  endDate: CalendarDate,
  timezone: Schema.optionalKey(TimeZoneName),
  window: Window,
  /**
   * Gives several series instead of one in total. With a meter, one for each combination of values of these dimensions.
   * Without a meter, `product_id` gives one for each product and unit.
   */
  groupBy: Schema.optionalKey(GroupByInput),
})
export interface SeriesUsage extends Schema.Schema.Type<typeof SeriesUsage> {}

/** The total of one window. A window without usage has the quantity 0. */
export interface UsagePoint {
  readonly start: DateTime.Utc
  readonly end: DateTime.Utc
  /** The product of a grouped series. Otherwise the product of the query, or `null`. */
  readonly productId: string | null
  readonly unit: string | null
  readonly quantity: bigint
  /** As in `UsageSummary`, for the length of the window. */
  readonly denominator: bigint
  readonly recordCount: number
  /** The values of the dimensions that the series is grouped by. Present in a series of a meter grouped by dimensions. */
  readonly dimensions?: Readonly<Record<string, string | null>>
}
