/**
 * The days of service. A page and an e-invoice of one document have them from here, so they say the same.
 */
import * as LocalTime from "../subscriptions/LocalTime.ts"

/** The first and the last day, as local midnights or as texts such as `2026-11-22`. */
export interface Days<Day extends number | string> {
  readonly start: Day
  readonly end: Day
}

/** The day of an instant in a time zone, as its local midnight. */
export const dayOf = (millis: number, timezone: string): number =>
  LocalTime.startOfDay(LocalTime.ofInstant(millis, timezone))

/** The days of a half-open period. */
export const daysOf = (start: number, end: number, timezone: string): Days<number> => ({
  start: dayOf(start, timezone),
  end: dayOf(Math.max(start, end - 1), timezone),
})

/** From the first to the last day of lines. `null` if none has a period. */
export const spanOf = <Day extends number | string>(
  periods: ReadonlyArray<Days<Day> | null>,
): Days<Day> | null =>
  periods.reduce<Days<Day> | null>((span, period) => {
    if (span === null || period === null) return span ?? period
    return {
      start: period.start < span.start ? period.start : span.start,
      end: period.end > span.end ? period.end : span.end,
    }
  }, null)
