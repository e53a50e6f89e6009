/**
 * Instants as text: RFC 3339.
 */
import { DateTime } from "effect"

/** Longest text of an instant, in characters: with nanoseconds and an offset. */
export const MAX_INSTANT_LENGTH = 35

const RFC_3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/u

const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

const daysOf = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : DAYS_OF_MONTHS[month - 1]!

/**
 * Reads an RFC 3339 instant with an offset, to the millisecond. Gives `undefined` for any other text.
 *
 * Days that don't exist (`2026-02-30`), hour 24, leap seconds (`:60`) and offsets of a day or more are refused, because
 * JavaScript reads some of them as another instant.
 */
export const parse = (text: string): DateTime.Utc | undefined => {
  const [, year, month, day] = RFC_3339.exec(text) ?? []
  if (day === undefined || Number(day) > daysOf(Number(year), Number(month))) return undefined
  return DateTime.toUtc(DateTime.makeUnsafe(text.toUpperCase()))
}

/** Most texts that are kept. When there are as many, all are forgotten. */
const MAX_KEPT = 1_000
const kept = new Map<number, string>()

/**
 * An instant in epoch milliseconds as text in UTC: `2026-11-21T09:30:00.000Z`. Periods of many subscriptions begin and end
 * at the same instants, so that the texts of the last ones are kept.
 */
export const text = (millis: number): string => {
  const known = kept.get(millis)
  if (known !== undefined) return known
  const made = DateTime.formatIso(DateTime.makeUnsafe(millis))
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(millis, made)
  return made
}

/** The same, or `null` for none. */
export const textOrNull = (millis: number | null): string | null => (millis === null ? null : text(millis))

/** An instant in epoch milliseconds as a value of Effect. */
export const ofMillis = (millis: number): DateTime.Utc => DateTime.makeUnsafe(millis)

/** The same, or `null` for none. */
export const ofMillisOrNull = (millis: number | null): DateTime.Utc | null =>
  millis === null ? null : ofMillis(millis)
