/**
 * Periods of usage: days of people's calendars turned into instants, and back into what is stored.
 *
 * Inside the library a period is half-open, `[start, end)`, in epoch milliseconds. Callers name days, and
 * both days count: `endDate` resolves to the midnight that follows it in the asked time zone. All arithmetic
 * is by calendar, never by 86,400,000 ms, because a day can last 23, 24 or 25 hours.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import { InvalidInput } from "../shared/InvalidInput.ts"

/** Milliseconds of a UTC day: UTC has no daylight saving time. */
export const UTC_DAY_MILLIS = 86_400_000
const HOUR_MILLIS = 3_600_000

/** Most windows of one series, so that an answer stays small: a month of hours, or 2 years of days. */
export const MAX_WINDOWS = 1000

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/u

const parseDate = (text: string | undefined): { year: number; month: number; day: number } | undefined => {
  const match = DATE.exec(text ?? "")
  if (match === null) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  // A month or a day that there isn't is carried over, and always into another month.
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

/** Longest time-zone name, in code points. The longest of the IANA database has 30. */
const MAX_TIMEZONE_LENGTH = 64

/**
 * A zone by its name, in whatever case. Effect keeps each zone by the name that it was asked for, so it is asked in one
 * spelling alone: there are some 600 names, and any number of ways to write one.
 */
const zoneNamed = (name: string): Option.Option<DateTime.TimeZone> =>
  /^[A-Za-z][\x21-\x7e]*$/.test(name) ? DateTime.zoneMakeNamed(name.toLowerCase()) : Option.none()

/** An IANA time-zone name that this runtime knows, or `UTC`. */
export const TimeZoneName = Schema.String.check(
  Schema.makeFilter((name: string) => Option.isSome(zoneNamed(name)), {
    message: "must be an IANA time zone such as Europe/Berlin",
  }),
  Schema.isBetweenCodePoints(1, MAX_TIMEZONE_LENGTH, {
    message: `must be 1 to ${MAX_TIMEZONE_LENGTH} characters`,
  }),
)

/** A period in instants. `undefined` leaves that side open. */
export interface Period {
  readonly start: number | undefined
  readonly end: number | undefined
}

export interface PeriodInput {
  readonly startDate?: string | undefined
  readonly endDate?: string | undefined
  readonly timezone?: string | undefined
}

/** The zone that periods are in when the caller doesn't say. */
export const DEFAULT_TIMEZONE = "UTC"

/** The first instant of a local date; the date may lie outside its month and is carried over. */
const startOfDate = (year: number, month: number, day: number, zone: DateTime.TimeZone): number => {
  const carried = DateTime.toPartsUtc(DateTime.makeUnsafe({ year, month, day }))
  const zoned = DateTime.makeZoned(
    { year: carried.year, month: carried.month, day: carried.day },
    // "compatible": a midnight that daylight saving skips becomes the first instant after the gap, and of one
    // that happens twice the first counts. Both are the first instant of the date.
    { timeZone: zone, adjustForTimeZone: true, disambiguation: "compatible" },
  )
  return DateTime.toEpochMillis(Option.getOrThrow(zoned))
}

const zoneOf = (timezone: string | undefined): DateTime.TimeZone =>
  Option.getOrThrow(zoneNamed(timezone ?? DEFAULT_TIMEZONE))

/** Resolves inclusive days to instants. The input has been decoded by `CalendarDate` and `TimeZoneName`. */
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

/** How wide the windows of a series are, in the asked time zone. */
export const Window = Schema.Literals(["hour", "day", "month"])
export type Window = typeof Window.Type

/**
 * The boundaries of the windows of a period: n + 1 rising instants for n windows.
 *
 * Months and days start at local midnights. Hours count from each day's first instant, so that a day of 25
 * hours has 25. The first and the last month are cut to the period.
 */
export const windows = (
  input: { readonly startDate: string; readonly endDate: string; readonly timezone?: string | undefined },
  window: Window,
): Effect.Effect<ReadonlyArray<number>, InvalidInput> =>
  Effect.gen(function* () {
    const period = yield* resolve(input)
    const zone = zoneOf(input.timezone)
    // Both dates are there and have been decoded.
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
      // A date that a zone skipped altogether (Pacific/Apia, 2011-12-30) is no window.
      if (boundary > boundaries[boundaries.length - 1]!) boundaries.push(boundary)
      if (boundaries.length - 1 > MAX_WINDOWS) return yield* tooMany()
    }
    return boundaries
  })

/** The UTC day that an instant lies in, counted from 1970-01-01. */
export const utcDay = (millis: number): number => Math.floor(millis / UTC_DAY_MILLIS)

/**
 * How a period is read: whole UTC days from the roll-up, and what sticks out on either side from the records.
 *
 * `days` is the half-open range of day numbers, `undefined` on a side that is open; `edges` are at most two
 * half-open ranges of instants within a day each (one, when the period lies within a single day).
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
