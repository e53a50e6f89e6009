/**
 * Formats instants for people.
 */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MONTH = 30 * DAY
const YEAR = 365 * DAY

const relativeTo = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" })
const dayAndTime = {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
} as const
const momentOfThisYear = new Intl.DateTimeFormat("en-GB", dayAndTime)
const momentOfAnyYear = new Intl.DateTimeFormat("en-GB", { ...dayAndTime, year: "numeric" })
const local = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "long",
})

const days = new Map<string | undefined, Intl.DateTimeFormat>()

const dayIn = (timeZone: string | undefined): Intl.DateTimeFormat => {
  const known = days.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    ...(timeZone === undefined ? {} : { timeZone }),
  })
  days.set(timeZone, made)
  return made
}

/** The day in a time zone, which is the reader's if none is given: `21 Nov 2026`. */
export const day = (instant: string, timeZone?: string): string => dayIn(timeZone).format(Date.parse(instant))

/** The last millisecond of a period, whose end is the first instant after it. */
export const lastOf = (start: string | null, end: string): string =>
  new Date(
    Math.max(start === null ? Number.NEGATIVE_INFINITY : Date.parse(start), Date.parse(end) - 1),
  ).toISOString()

/** `3 min. ago`, `in 20 sec.`, `2 mo. ago`. */
export const relative = (instant: string, now: number): string => {
  const at = Date.parse(instant)
  const distance = at - now
  const size = Math.abs(distance)
  if (size < 5 * SECOND) return "now"
  if (size < MINUTE) return relativeTo.format(Math.round(distance / SECOND), "second")
  if (size < HOUR) return relativeTo.format(Math.trunc(distance / MINUTE), "minute")
  if (size < DAY) return relativeTo.format(Math.trunc(distance / HOUR), "hour")
  if (size < MONTH) return relativeTo.format(Math.trunc(distance / DAY), "day")
  if (size < YEAR) return relativeTo.format(Math.trunc(distance / MONTH), "month")
  return relativeTo.format(Math.trunc(distance / YEAR), "year")
}

/** To the second, in the reader's time zone: `21 Nov, 09:30:00`. With the year if it is not the current one. */
export const moment = (instant: string, now: number): string => {
  const at = Date.parse(instant)
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return (isThisYear ? momentOfThisYear : momentOfAnyYear).format(at)
}

/** To the millisecond, as in logs: `2026-11-21 09:30:00.123 UTC`. */
export const utc = (instant: string): string => instant.replace("T", " ").replace("Z", " UTC")

/** The name of the reader's time zone: `UTC`, `GMT+1`. */
export const zone: string =
  new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" })
    .formatToParts()
    .find(({ type }) => type === "timeZoneName")?.value ?? "local time"

/** The instant to the millisecond, in UTC and in the reader's time zone. */
export const exact = (instant: string): string =>
  `${utc(instant)} (${local.format(Date.parse(instant))} here)`

/** `850 ms`, `1.24 s`. */
export const duration = (milliseconds: number): string =>
  milliseconds < SECOND ? `${milliseconds} ms` : `${(milliseconds / SECOND).toFixed(2)} s`

/** The start of a day (`YYYY-MM-DD`) in the reader's time zone, moved by some days, in the form of the API. */
export const startOfDay = (date: string, movedByDays = 0): string | undefined => {
  const [year, month, day] = date.split("-").map(Number)
  if (year === undefined || month === undefined || day === undefined) return undefined
  const start = new Date(year, month - 1, day + movedByDays)
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString()
}

/** The UTC day (`YYYY-MM-DD`) some days before an instant. */
export const utcDay = (now: number, daysBefore = 0): string =>
  new Date(now - daysBefore * DAY).toISOString().slice(0, 10)

/** Converts the value of an `<input type="datetime-local">` to an instant of the API. */
export const fromLocalInput = (value: string): string | undefined => {
  const at = new Date(value)
  return value === "" || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

/** An instant as the value of an `<input type="datetime-local">`. */
export const toLocalInput = (at: number): string => {
  const offset = new Date(at).getTimezoneOffset() * MINUTE
  return new Date(at - offset).toISOString().slice(0, 16)
}
