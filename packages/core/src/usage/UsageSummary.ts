/**
 * Totals of usage: over one period (a summary) and over consecutive windows (a series).
 */
import { type DateTime, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import { CalendarDate, TimeZoneName, Window } from "./UsagePeriod.ts"
import { ProductId, Unit } from "./UsageRecord.ts"

/** Most points of one series: windows times meters, those that have usage on the UTC days that the series touches. */
export const MAX_SERIES_POINTS = 10_000

/** What to sum up. Dates are inclusive days of the time zone; without them, all usage. */
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
  /** Σ quantity of the records that are not voided. Exact, whatever the size. */
  readonly totalQuantity: bigint
  /** The unit of the total; `null` when there is no usage and none was asked for. */
  readonly unit: string | null
  /** How many records the total is made of. */
  readonly recordCount: number
  /** As asked. */
  readonly startDate: string | null
  readonly endDate: string | null
  readonly timezone: string
  /** What the dates came to: from this instant (inclusive) … */
  readonly periodStart: DateTime.Utc | null
  /** … to this one (exclusive). */
  readonly periodEnd: DateTime.Utc | null
}

/** What to chart. Both dates are required: they bound the number of windows. */
export const SeriesUsage = Schema.Struct({
  customerId: CustomerId,
  productId: Schema.optionalKey(ProductId),
  unit: Schema.optionalKey(Unit),
  startDate: CalendarDate,
  endDate: CalendarDate,
  timezone: Schema.optionalKey(TimeZoneName),
  window: Window,
  /** One series for each meter (product and unit) instead of one in all. */
  groupBy: Schema.optionalKey(Schema.Literals(["product_id"])),
})
export interface SeriesUsage extends Schema.Schema.Type<typeof SeriesUsage> {}

/** The total of one window. Windows without usage are there, with 0. */
export interface UsagePoint {
  readonly start: DateTime.Utc
  readonly end: DateTime.Utc
  /** The product, when grouped; otherwise the one that was asked for, or `null`. */
  readonly productId: string | null
  readonly unit: string | null
  readonly quantity: bigint
  readonly recordCount: number
}
