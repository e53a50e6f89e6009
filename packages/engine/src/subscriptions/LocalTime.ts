/**
 * Local dates and times: turns what a clock in a time zone shows into an instant, and back.
 *
 * An instant is in epoch milliseconds. A local time is in milliseconds, too: those from 1970-01-01T00:00 to the date and
 * time that the clock shows, as if every day had 24 hours. So local times are added and compared as numbers, and the
 * rules of the zone are applied once, at the end.
 */

export const DAY_MILLIS = 86_400_000
const SECOND_MILLIS = 1_000

const TEXT = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{3}))?)?)?$/

/** The first year of a local time. Years before have offsets that time zones did not record well. */
const FIRST_YEAR = 1900

/** A date: `month` is 1 to 12, `day` 1 to 31. */
interface CivilDate {
  readonly year: number
  readonly month: number
  readonly day: number
}

const YEARS_OF_ERA = 400
const DAYS_OF_ERA = 146_097
/** Days from 0000-03-01 to 1970-01-01. */
const DAYS_TO_1970 = 719_468

/**
 * Days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March here, so that the leap day is the last
 * of a year. (The method of Howard Hinnant, `days_from_civil`.)
 */
const daysOf = ({ day, month, year }: CivilDate): number => {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / YEARS_OF_ERA)
  const yearOfEra = shifted - era * YEARS_OF_ERA
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * DAYS_OF_ERA + dayOfEra - DAYS_TO_1970
}

/** The date that is `days` after 1970-01-01: the inverse of {@link daysOf}. */
const dateOf = (days: number): CivilDate => {
  const shifted = days + DAYS_TO_1970
  const era = Math.floor(shifted / DAYS_OF_ERA)
  const dayOfEra = shifted - era * DAYS_OF_ERA
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return {
    year: yearOfEra + era * YEARS_OF_ERA + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}

/**
 * Reads a local time: `2026-01-31T09:30:00.000`, or with fewer parts of the time, down to the date alone. Gives
 * `undefined` when it is not written so, when the date does not exist, or when it is before 1900.
 */
export const parse = (text: string): number | undefined => {
  const match = TEXT.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second, millis] = match.slice(1).map((part) => Number(part ?? 0))
  const days = daysOf({ year: year!, month: month!, day: day! })
  const carried = dateOf(days)
  const exists = carried.month === month && carried.day === day && year! >= FIRST_YEAR
  if (!exists || hour! > 23 || minute! > 59 || second! > 59) return undefined
  return days * DAY_MILLIS + ((hour! * 60 + minute!) * 60 + second!) * SECOND_MILLIS + millis!
}

const padded = (value: number, length: number): string => value.toString().padStart(length, "0")

/** Writes a local time: `2026-01-31T09:30:00.000`. */
export const format = (local: number): string => {
  const days = Math.floor(local / DAY_MILLIS)
  const { day, month, year } = dateOf(days)
  const millis = local - days * DAY_MILLIS
  const seconds = Math.floor(millis / SECOND_MILLIS)
  const time = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60].map((part) =>
    padded(part, 2),
  )
  const date = [padded(year, 4), padded(month, 2), padded(day, 2)]
  return `${date.join("-")}T${time.join(":")}.${padded(millis % SECOND_MILLIS, 3)}`
}

/** The local midnight at which the day of a local time begins. */
export const startOfDay = (local: number): number => Math.floor(local / DAY_MILLIS) * DAY_MILLIS

/** Adds calendar months. A day that the month does not have becomes its last day. */
export const addMonths = (local: number, months: number): number => {
  const days = Math.floor(local / DAY_MILLIS)
  const { day, month, year } = dateOf(days)
  const index = year * 12 + month - 1 + months
  const target = { year: Math.floor(index / 12), month: (((index % 12) + 12) % 12) + 1, day: 1 }
  const next = { year: Math.floor((index + 1) / 12), month: ((((index + 1) % 12) + 12) % 12) + 1, day: 1 }
  const first = daysOf(target)
  const length = daysOf(next) - first
  return (first + Math.min(day, length) - 1) * DAY_MILLIS + (local - days * DAY_MILLIS)
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** The formatter of a zone. Names are cached in lower case, so that the cache has at most one entry for each zone name. */
const formatterOf = (timezone: string): Intl.DateTimeFormat => {
  const name = timezone.toLowerCase()
  const known = formatters.get(name)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  })
  formatters.set(name, made)
  return made
}

/** Whether this runtime knows an IANA time zone of this name, in upper or lower case. Offsets (`+01:00`) are no names. */
export const isTimezone = (timezone: string): boolean => {
  if (!/^[A-Za-z][\x21-\x7e]*$/.test(timezone)) return false
  try {
    formatterOf(timezone)
    return true
  } catch {
    return false
  }
}

/** What a formatter writes: `1/31/2026, 09:30:00`. Reading it is several times as fast as `formatToParts`. */
const WRITTEN = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/

/** The local time that a clock in the zone shows at an instant. Throws a `RangeError` for an unknown zone. */
export const ofInstant = (instant: number, timezone: string): number => {
  if (timezone === "UTC") return instant
  // Offsets are whole seconds, so milliseconds are the same on every clock.
  const seconds = Math.floor(instant / SECOND_MILLIS) * SECOND_MILLIS
  const written = formatterOf(timezone).format(seconds)
  const match = WRITTEN.exec(written)
  if (match === null) throw new RangeError(`This runtime writes dates in another way than usual: ${written}`)
  const [month, day, year, hour, minute, second] = match.slice(1).map(Number)
  const time = ((hour! * 60 + minute!) * 60 + second!) * SECOND_MILLIS
  const days = daysOf({ year: year!, month: month!, day: day! })
  return days * DAY_MILLIS + time + (instant - seconds)
}

/**
 * The instant at which a clock in the zone shows a local time. Throws a `RangeError` for an unknown zone.
 *
 * When clocks go back, a local time happens twice: the first of the two is meant. When clocks go forward, a local time
 * is skipped: it becomes later by as much as was skipped, so 02:30 becomes 03:30.
 */
export const toInstant = (local: number, timezone: string): number => {
  if (timezone === "UTC") return local
  // Offsets are less than a day, so these two instants are before and after every instant that can be meant.
  const offsetAt = (instant: number) => ofInstant(instant, timezone) - instant
  const before = local - offsetAt(local - DAY_MILLIS)
  const after = local - offsetAt(local + DAY_MILLIS)
  if (before === after) return before
  const [first, second] = before < after ? [before, after] : [after, before]
  if (ofInstant(first, timezone) === local) return first
  if (ofInstant(second, timezone) === local) return second
  return before
}
