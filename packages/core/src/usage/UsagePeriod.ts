/**
 * Periods of usage: turns calendar days in a time zone into instants, and periods into the stored days.
 *
 * Inside the library a period is half-open, `[start, end)`, in epoch milliseconds. Callers give days, and
 * both days count: `endDate` becomes the midnight after it in the caller's time zone. Days are added by calendar and
 * not as 86,400,000 ms, because a day can last 23, 24 or 25 hours.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { zoneNamed } from "../shared/TimeZone.ts"

/** Milliseconds of a UTC day. UTC has no daylight saving time, so all days are equal. */
export const UTC_DAY_MILLIS = 86_400_000
const HOUR_MILLIS = 3_600_000

/** Most windows of one series, so that an answer stays small: a month of hours, or 2 years of days. */
export const MAX_WINDOWS = 1000

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/u

const parseDate = (text: string | undefined): { year: number; month: number; day: number } | undefined => {
  const match = DATE.exec(text ?? "")
  if (match === null) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  // A month or day that doesn't exist is carried over, and always into another month.
  const carried = DateTime.toPartsUtc(DateTime.makeUnsafe({ year, month, day }))
  return carried.month === month && year >= 1 ? { year, month, day } : undefined
}

const DATE_PROBLEM = "must be a date that exists, written YYYY-MM-DD"

/** A calendar date that exists, `YYYY-MM-DD`, from year 0001. `2026-02-30` is refused. */
export const CalendarDate = Schema.String.annotate({ message: DATE_PROBLEM }).check(
  Schema.makeFilter((text: string) => parseDate(text) !== undefined, { message: DATE_PROBLEM }),
  Schema.isPattern(DATE, {
    message: DATE_PROBLEM,
    toJsonSchema: () => ({ format: "date", pattern: DATE.source, maxLength: 10 }),
  }),
)

/** A period in epoch milliseconds. `undefined` leaves that side open. */
export interface Period {
  readonly start: number | undefined
  readonly end: number | undefined
}

export interface PeriodInput {
  readonly startDate?: string | undefined
  readonly endDate?: string | undefined
  readonly timezone?: string | undefined
}

/** The time zone of periods when the caller gives none. */
export const DEFAULT_TIMEZONE = "UTC"

/** The first instant of a local date. A day or month that is too large is carried over. */
const startOfDate = (year: number, month: number, day: number, zone: DateTime.TimeZone): number => {
  const carried = DateTime.toPartsUtc(DateTime.makeUnsafe({ year, month, day }))
  const zoned = DateTime.makeZoned(
    { year: carried.year, month: carried.month, day: carried.day },
    // "compatible": a midnight that daylight saving skips becomes the first instant after the gap, and a midnight
    // that happens twice is the first of the two. Both are the first instant of the date.
    { timeZone: zone, adjustForTimeZone: true, disambiguation: "compatible" },
  )
  return DateTime.toEpochMillis(Option.getOrThrow(zoned))
}

const zoneOf = (timezone: string | undefined): DateTime.TimeZone =>
  Option.getOrThrow(zoneNamed(timezone ?? DEFAULT_TIMEZONE))

/** Resolves inclusive days to instants. The input must be decoded by `CalendarDate` and `TimeZoneName`. */
export const resolve = (input: PeriodInput): Effect.Effect<Period, InvalidInput> => {
  const zone = zoneOf(input.timezone)
  const first = parseDate(input.startDate)
  const last = parseDate(input.endDate)
  const start = first && startOfDate(first.year, first.month, first.day, zone)
  const end = last && startOfDate(last.year, last.month, last.day + 1, zone)
  const { startDate = "", endDate = startDate } = input
  if (endDate < startDate) {
    return Effect.fail(new InvalidInput({ field: "endDate", problem: "must not be before the start date" }))
  }
  return Effect.succeed({ start, end })
}

/** A period as answers describe it: by the dates and the time zone of the query, and by its instants. */
export const described = ({ endDate, startDate, timezone }: PeriodInput, { end, start }: Period) => ({
  startDate: startDate ?? null,
  endDate: endDate ?? null,
  timezone: timezone ?? DEFAULT_TIMEZONE,
  periodStart: start === undefined ? null : DateTime.makeUnsafe(start),
  periodEnd: end === undefined ? null : DateTime.makeUnsafe(end),
})

/** The width of a series' windows, in the caller's time zone. */
export const Window = Schema.Literals(["hour", "day", "month"])
export type Window = typeof Window.Type

/**
 * The boundaries of a period's windows: n + 1 rising instants for n windows, in epoch milliseconds.
 *
 * Months and days start at local midnights. Hours are counted from the first instant of each day, so a day of 25 hours
 * has 25 windows. The first and the last month are cut to the period.
 */
export const windows = (
  input: { readonly startDate: string; readonly endDate: string; readonly timezone?: string | undefined },
  window: Window,
): Effect.Effect<ReadonlyArray<number>, InvalidInput> =>
  Effect.gen(function* () {
    const period = yield* resolve(input)
    const zone = zoneOf(input.timezone)
    // Both dates are required and have been decoded.
    const first = parseDate(input.startDate)!
    const end = period.end!
    const boundaries = [period.start!]
    const tooMany = () =>
      new InvalidInput({
        field: "endDate",
        problem: `is too late: a series has at most ${MAX_WINDOWS} windows`,
      })
    for (let step = 1; boundaries[boundaries.length - 1]! < end; step++) {
      const next =
        window === "month"
          ? startOfDate(first.year, first.month + step, 1, zone)
          : startOfDate(first.year, first.month, first.day + step, zone)
      if (window === "hour") {
        for (
          let hour = boundaries[boundaries.length - 1]! + HOUR_MILLIS;
          hour < Math.min(next, end);
          hour += HOUR_MILLIS
        ) {
          boundaries.push(hour)
        }
      }
      const boundary = Math.min(next, end)
      // A date that a zone skipped (Pacific/Apia, 2011-12-30) has no window.
      if (boundary > boundaries[boundaries.length - 1]!) boundaries.push(boundary)
      if (boundaries.length - 1 > MAX_WINDOWS) return yield* tooMany()
    }
    return boundaries
  })

/** The UTC day that an instant is in, in days since 1970-01-01. */
export const utcDay = (millis: number): number => Math.floor(millis / UTC_DAY_MILLIS)

/** A UTC day as text, `YYYY-MM-DD`. */
export const formatDay = (day: number): string =>
  DateTime.formatIsoDateUtc(DateTime.makeUnsafe(day * UTC_DAY_MILLIS))

/**
 * How a period is read: whole UTC days from the roll-up, and the parts of days at both ends from the records.
 *
 * `days` is a half-open range of day numbers; `undefined` leaves that side open. `edges` are at most two half-open
 * ranges of instants, each within one day. There is one edge when the period is within a single day.
 */
export interface Split {
  readonly days: { readonly from: number | undefined; readonly to: number | undefined } | undefined
  readonly edges: ReadonlyArray<{ readonly start: number; readonly end: number }>
}

export const split = ({ end = Infinity, start = -Infinity }: Period): Split => {
  const from = Math.ceil(start / UTC_DAY_MILLIS)
  const to = Math.floor(end / UTC_DAY_MILLIS)
  if (from > to) return { days: undefined, edges: [{ start, end }] }
  const [firstMidnight, lastMidnight] = [from * UTC_DAY_MILLIS, to * UTC_DAY_MILLIS]
  const edges: Array<{ start: number; end: number }> = []
  if (start < firstMidnight) edges.push({ start, end: firstMidnight })
  if (lastMidnight < end) edges.push({ start: lastMidnight, end })
  return { days: from === to ? undefined : { from: unlessOpen(from), to: unlessOpen(to) }, edges }
}

const unlessOpen = (day: number): number | undefined => (Number.isFinite(day) ? day : undefined)
