/**
 * Instants, dates and zones, often at the start or end of a period.
 */
import { UsagePeriod, UsageRecord } from "@billwright/core"
import { DateTime } from "effect"
import * as fc from "fast-check"

const FIRST = UsageRecord.MIN_TIMESTAMP_MILLIS
/** The end of the year 9999, the last year that ISO 8601 writes with four digits. */
export const LAST_INSTANT = 253_402_300_799_999

const toInstant = (millis: number): DateTime.Utc => DateTime.makeUnsafe(millis)

/** Days on which a period starts or ends. */
const notableDay = fc
  .constantFrom(
    "0001-01-01",
    "0099-12-31",
    "1582-10-15",
    "1900-02-28",
    "1969-12-31",
    "1970-01-01",
    "2000-02-29",
    "2011-12-30",
    "2024-02-29",
    "2025-12-31",
    "2026-03-29",
    "2026-11-01",
  )
  .map((day) => DateTime.makeUnsafe(day).epochMilliseconds)

/** Milliseconds since midnight, often at the border of a day or an hour. */
const timeOfDay = fc.oneof(
  fc.constantFrom(0, 1, 3_599_999, 3_600_000, 43_200_000, 86_399_999),
  fc.integer({ min: 0, max: UsagePeriod.UTC_DAY_MILLIS - 1 }),
)

/** Any instant of the years 0001 to 9999, to the millisecond. */
export const instant: fc.Arbitrary<DateTime.Utc> = fc
  .oneof(
    { weight: 2, arbitrary: fc.tuple(notableDay, timeOfDay).map(([day, time]) => day + time) },
    { weight: 1, arbitrary: fc.integer({ min: FIRST, max: LAST_INSTANT }) },
    { weight: 1, arbitrary: fc.constantFrom(FIRST, LAST_INSTANT, -1, 0) },
  )
  .map(toInstant)

/** The days of `nearbyInstant` and `boundaries`: a turn of the month, followed by a change to or from summer time. */
const NEARBY_DAY = DateTime.makeUnsafe("2026-02-27").epochMilliseconds
const NEARBY_DAYS = 5

const nearbyMillis = fc
  .tuple(fc.integer({ min: 0, max: NEARBY_DAYS - 1 }), timeOfDay)
  .map(([day, time]) => NEARBY_DAY + day * UsagePeriod.UTC_DAY_MILLIS + time)

/** Instants within a few days, so that a period contains several. */
export const nearbyInstant: fc.Arbitrary<DateTime.Utc> = nearbyMillis.map(toInstant)

/** Rising boundaries of 1 to 8 windows near `nearbyInstant`. The first or last window may be open. */
export const boundaries: fc.Arbitrary<ReadonlyArray<number | undefined>> = fc
  .record({
    instants: fc.uniqueArray(nearbyMillis, { minLength: 2, maxLength: 9 }),
    isOpenBefore: fc.boolean(),
    isOpenAfter: fc.boolean(),
  })
  .map(({ instants, isOpenAfter, isOpenBefore }) => {
    const rising: Array<number | undefined> = [...instants].sort((a, b) => a - b)
    if (isOpenBefore) rising[0] = undefined
    if (isOpenAfter) rising[rising.length - 1] = undefined
    return rising
  })

/** IANA time zones with all special cases: half and quarter hours, both hemispheres, skipped days. */
export const timeZone: fc.Arbitrary<string> = fc.constantFrom(
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/St_Johns",
  "America/Sao_Paulo",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
  "Etc/GMT+12",
)

/** An existing date, `YYYY-MM-DD`. */
export const calendarDate: fc.Arbitrary<string> = instant.map(DateTime.formatIsoDateUtc)
