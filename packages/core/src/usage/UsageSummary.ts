/**
 * Totals of usage: over one period (a summary) and over consecutive windows (a series).
 */
import { type DateTime, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import { CalendarDate, TimeZoneName, Window } from "./UsagePeriod.ts"
import { ProductId, Unit } from "./UsageRecord.ts"

/** Most points of one series: its windows times the meters with usage on the UTC days of the series. */
export const MAX_SERIES_POINTS = 10_000

/** Which usage to sum. The dates are inclusive days in the time zone. Without dates, all usage is summed. */
export const SummarizeUsage = Schema.Struct({
  customerId: CustomerId,
  productId: Schema.optionalKey(ProductId),
  unit: Schema.optionalKey(Unit),
  startDate: Schema.optionalKey(CalendarDate),
  endDate: Schema.optionalKey(CalendarDate),
  timezone: Schema.optionalKey(TimeZoneName),
})
export interface SummarizeUsage extends Schema.Schema.Type<typeof SummarizeUsage> {}

/** The exact total of a customer's usage in one unit. */
export interface UsageSummary {
  readonly customerId: CustomerId
  /** The product that was asked for, or `null` for all of them. */
  readonly productId: string | null
  /** The sum of the quantities of all records that are not voided. It is exact at any size. */
  readonly totalQuantity: bigint
  /** The unit of the total. `null` when there is no usage and its unit is not known. */
  readonly unit: string | null
  /** How many records were summed. */
  readonly recordCount: number
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
  customerId: CustomerId,
  productId: Schema.optionalKey(ProductId),
  unit: Schema.optionalKey(Unit),
  startDate: CalendarDate,
  endDate: CalendarDate,
  timezone: Schema.optionalKey(TimeZoneName),
  window: Window,
  /** Gives one series for each meter (product and unit) instead of one in total. */
  groupBy: Schema.optionalKey(Schema.Literals(["product_id"])),
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
  readonly recordCount: number
}
