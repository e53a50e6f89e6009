/**
 * Numbers of documents: consecutive in a series, with instants that never fall. And the instant when payment is due.
 */
import { type Problem, Problems } from "../catalog/Problem.ts"
import * as LocalTime from "../subscriptions/LocalTime.ts"
import { InvoiceError } from "./InvoiceError.ts"

/** Longest format and fewest digits of a counter that a format can ask for. */
const MAX_FORMAT_LENGTH = 40
const MAX_WIDTH = 12
/** Most numbers that are taken at once. */
export const MAX_NUMBERS_AT_ONCE = 10_000
/** Most days until payment is due. */
const MAX_NET_DAYS = 365

/**
 * The state of a series: one for each account, mode and kind of document. A series counts from 1. If the format has a
 * year, it counts from 1 again in each year.
 */
export interface NumberSeries {
  /** Text with `{number:4}`, a counter of at least 4 digits, and optionally `{year}`: `INV-{year}-{number:4}`. */
  readonly format: string
  /** The time zone whose year counts: the seller's. */
  readonly timezone: string
  /** The year of the last number. `null` before the first, as is the next. */
  readonly year: number | null
  readonly lastIssuedAt: number | null
  /** The last counter of that year, or of the series. 0 before the first. */
  readonly last: number
}

/** A number that was taken. */
export interface TakenNumber {
  readonly number: string
  readonly year: number
  readonly counter: number
}

type Part =
  | { readonly literal: string }
  | { readonly token: "year" }
  | { readonly token: "number"; readonly width: number }

const PART = /\{year\}|\{number:(\d{1,2})\}|[A-Za-z0-9/._-]+/y

const partsOf = (format: string): ReadonlyArray<Part> | undefined => {
  const parts: Array<Part> = []
  PART.lastIndex = 0
  while (PART.lastIndex < format.length) {
    const match = PART.exec(format)
    if (match === null) return undefined
    const [text, width] = match
    if (text === "{year}") parts.push({ token: "year" })
    else if (width === undefined) parts.push({ literal: text })
    else parts.push({ token: "number", width: Number(width) })
  }
  return parts
}

const countOf = (parts: ReadonlyArray<Part>, token: "year" | "number"): number =>
  parts.filter((part) => "token" in part && part.token === token).length

/** All problems of a format of numbers. Empty when there are none. */
export const problemsOfNumberFormat = (format: unknown): ReadonlyArray<Problem> => {
  const at = new Problems("format")
  const parts = typeof format === "string" && format.length <= MAX_FORMAT_LENGTH ? partsOf(format) : undefined
  if (parts === undefined) {
    at.add(
      `must be at most ${MAX_FORMAT_LENGTH} letters, digits, hyphens, dots, slashes, underscores, {year} and {number:4}`,
    )
    return at.found
  }
  if (countOf(parts, "number") !== 1) at.add("must have {number:4} once, with the least number of digits")
  if (countOf(parts, "year") > 1) at.add("must have {year} at most once")
  for (const part of parts) {
    if ("width" in part && (part.width < 1 || part.width > MAX_WIDTH)) {
      at.add(`must have a number of 1 to ${MAX_WIDTH} digits`)
    }
  }
  return at.found
}

const validPartsOf = (format: string): ReadonlyArray<Part> => {
  const problems = problemsOfNumberFormat(format)
  if (problems.length > 0) throw new InvoiceError(problems)
  return partsOf(format) ?? []
}

const hasYear = (format: string): boolean => format.includes("{year}")

const yearText = (year: number): string => String(year).padStart(4, "0")

const written = (parts: ReadonlyArray<Part>, year: number, counter: number): string =>
  parts
    .map((part) =>
      "literal" in part
        ? part.literal
        : part.token === "year"
          ? yearText(year)
          : String(counter).padStart(part.width, "0"),
    )
    .join("")

/** Writes a number: `2026-0042`. Throws an {@link InvoiceError} for a format with problems. */
export const writeNumber = (format: string, year: number, counter: number): string =>
  written(validPartsOf(format), year, counter)

/**
 * Reads a number that {@link writeNumber} wrote. `undefined` for any other text. `year` is `null` if the format has none.
 */
export const readNumber = (
  format: string,
  text: string,
): { readonly year: number | null; readonly counter: number } | undefined => {
  const parts = validPartsOf(format)
  const pattern = parts
    .map((part) =>
      "literal" in part
        ? part.literal
        : part.token === "year"
          ? String.raw`(?<year>\d{4})`
          : String.raw`(?<number>\d{${part.width},})`,
    )
    .join("")
  const groups = new RegExp(`^${pattern}$`).exec(text)?.groups
  if (groups === undefined) return undefined
  const year = groups["year"] === undefined ? null : Number(groups["year"])
  const counter = Number(groups["number"])
  // The pattern takes a dot for any character. Only a text that is written the same is read.
  const isOurs = Number.isSafeInteger(counter) && counter > 0 && written(parts, year ?? 0, counter) === text
  return isOurs ? { year, counter } : undefined
}

/** The instant that a document is issued at: now, or that of the document before, if the clock was set back since. */
export const issuedAtAfter = (lastIssuedAt: number | null, now: number): number =>
  lastIssuedAt === null || now > lastIssuedAt ? now : lastIssuedAt

const yearAt = (instant: number, timezone: string): number =>
  Number(LocalTime.format(LocalTime.ofInstant(instant, timezone)).slice(0, 4))

/**
 * Takes the next numbers of a series, in order. All get one instant. Throws an {@link InvoiceError} for a format with
 * problems, and a `RangeError` for an unknown time zone or for fewer than 1 or more than 10,000 numbers.
 */
export const takeNumbers = (
  series: NumberSeries,
  count: number,
  now: number,
): {
  readonly series: NumberSeries
  readonly issuedAt: number
  readonly numbers: ReadonlyArray<TakenNumber>
} => {
  if (!Number.isInteger(count) || count < 1 || count > MAX_NUMBERS_AT_ONCE) {
    throw new RangeError(`The count of numbers must be from 1 to ${MAX_NUMBERS_AT_ONCE}: ${count}.`)
  }
  const { format, last, timezone, year: lastYear } = series
  const parts = validPartsOf(format)
  const issuedAt = issuedAtAfter(series.lastIssuedAt, now)
  // Another time zone could make the year fall, and a year that ended must not get more numbers.
  const year = Math.max(yearAt(issuedAt, timezone), lastYear ?? 0)
  const first = hasYear(format) && year !== lastYear ? 1 : last + 1
  const numbers = Array.from({ length: count }, (_, index) => {
    const counter = first + index
    return { number: written(parts, year, counter), year, counter }
  })
  return { series: { ...series, year, lastIssuedAt: issuedAt, last: first + count - 1 }, issuedAt, numbers }
}

/**
 * The instant until which an invoice can be paid in time: the last millisecond of the local day that is `netDays` after
 * the day of issuing, where the customer is. Throws a `RangeError` for an unknown time zone, or for days that are not an
 * integer from 0 to 365.
 */
export const dueAtOf = (issuedAt: number, netDays: number, timezone: string): number => {
  if (!Number.isInteger(netDays) || netDays < 0 || netDays > MAX_NET_DAYS) {
    throw new RangeError(`The net days must be an integer from 0 to ${MAX_NET_DAYS}: ${netDays}.`)
  }
  const midnight = LocalTime.startOfDay(LocalTime.ofInstant(issuedAt, timezone))
  return LocalTime.toInstant(midnight + (netDays + 1) * LocalTime.DAY_MILLIS, timezone) - 1
}
