/**
 * Reads HTTP dates in the three forms that a recipient must accept (RFC 9110 §5.6.7).
 */
import { DateTime, Option } from "effect"

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

const SHORT_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
const LONG_DAY = "(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
const MONTH = `(?<month>${MONTHS.join("|")})`
const TIME = "(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)"

const FORMS = [
  // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^${SHORT_DAY}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  // RFC 850, obsolete: Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^${LONG_DAY}, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`),
  // asctime of C, obsolete, in UTC: Sun Nov  6 08:49:37 1994
  new RegExp(`^${SHORT_DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
]

/** A year of two digits that would be more than 50 years ahead is in the past century (RFC 9110 §5.6.7). */
const fullYear = (digits: string, nowMillis: number): number => {
  if (digits.length === 4) return Number(digits)
  const thisYear = DateTime.toPartsUtc(DateTime.makeUnsafe(nowMillis)).year
  const year = thisYear - (thisYear % 100) + Number(digits)
  return year > thisYear + 50 ? year - 100 : year
}

/** The instant in epoch milliseconds, or `undefined` for other text. `nowMillis` decides the century in RFC 850 dates. */
export const parse = (text: string, nowMillis: number): number | undefined => {
  for (const form of FORMS) {
    const groups = form.exec(text)?.groups
    if (groups === undefined) continue
    const { day = "", hour, minute, month = "", second, year = "" } = groups
    const date = { year: fullYear(year, nowMillis), month: MONTHS.indexOf(month) + 1, day: Number(day) }
    const midnight = Option.getOrUndefined(DateTime.make(date))
    // Refuses days that don't exist: `DateTime.make` turns February 30th into March 2nd.
    if (midnight === undefined || DateTime.toPartsUtc(midnight).day !== date.day) return undefined
    return midnight.epochMilliseconds + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000
  }
  return undefined
}
