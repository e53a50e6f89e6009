/**
 * Time zones by their IANA names.
 */
import { DateTime, Option, Schema } from "effect"

/** Longest time-zone name, in code points. The longest of the IANA database has 30. */
const MAX_TIMEZONE_LENGTH = 64

/**
 * A zone by its name, in upper or lower case. Effect caches each zone by the name as given. So the name is always given
 * in lower case, which limits the cache to about 600 names.
 */
export const zoneNamed = (name: string): Option.Option<DateTime.TimeZone> =>
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
