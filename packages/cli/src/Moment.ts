/**
 * Parses instants on the command line: an instant, or how long ago it was.
 */
import { Instant } from "@billwright/core"
import { DateTime, Effect } from "effect"
import { Misconfigured } from "./Store.ts"

/** The accepted forms, for descriptions of flags. */
export const FORMS = "an instant such as 2026-11-21T09:30:00Z, or how long ago it was: 90m, 2h, 3d"

const AGO = /^(\d{1,6})(m|h|d)$/
const UNIT_MILLIS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** About 100 years: earlier than all data, and still a year of four digits. */
const MAX_AGO_DAYS = 36_500
/** A number, a word, or a number and a word. No instant looks like that. */
const NO_INSTANT = /^[-+]?\d*\s*[a-z]*$/i

/** Parses a duration such as `90m` to milliseconds. `undefined` if the text is not a duration. */
const millisOf = (text: string): number | undefined => {
  const [, amount, unit] = AGO.exec(text) ?? []
  return amount === undefined || unit === undefined
    ? undefined
    : Number(amount) * UNIT_MILLIS[unit as keyof typeof UNIT_MILLIS]
}

/** Parses a duration, at most 36500d, to milliseconds. */
export const duration = Effect.fnUntraced(function* (flag: string, text: string) {
  const milliseconds = millisOf(text)
  if (milliseconds === undefined || milliseconds === 0) {
    return yield* new Misconfigured({
      message: `--${flag} must be a number of minutes, hours or days, such as 90m, 12h or 30d. It is ${text}`,
    })
  }
  if (milliseconds > MAX_AGO_DAYS * UNIT_MILLIS.d) {
    return yield* new Misconfigured({ message: `--${flag} must be at most ${MAX_AGO_DAYS}d. It is ${text}` })
  }
  return milliseconds
})

/** Parses a duration from now, at most 36500d. */
export const fromNow = Effect.fnUntraced(function* (flag: string, text: string) {
  const milliseconds = yield* duration(flag, text)
  return DateTime.add(yield* DateTime.now, { milliseconds })
})

/** Parses an instant. */
export const instant = Effect.fnUntraced(function* (flag: string, text: string) {
  const parsed = Instant.parse(text)
  if (parsed !== undefined) return parsed
  return yield* new Misconfigured({
    message: `--${flag} must be an instant such as 2026-12-31T00:00:00Z. It is ${text}`,
  })
})

/** Parses an instant, or how long ago it was, for a request. The server checks instants. */
export const instantOf = Effect.fnUntraced(function* (flag: string, text: string) {
  const milliseconds = millisOf(text)
  if (milliseconds === undefined) {
    if (!NO_INSTANT.test(text)) return text
    return yield* new Misconfigured({ message: `--${flag} must be ${FORMS}. It is ${text}` })
  }
  if (milliseconds > MAX_AGO_DAYS * UNIT_MILLIS.d) {
    return yield* new Misconfigured({
      message: `--${flag} must be at most ${MAX_AGO_DAYS}d ago. It is ${text}`,
    })
  }
  return DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { milliseconds }))
})
