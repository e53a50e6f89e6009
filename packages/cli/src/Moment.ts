/**
 * Parses instants on the command line: an instant, or how long ago it was.
 */
import { Instant } from "@billwright/core"
import { DateTime, Effect } from "effect"
import { Misconfigured } from "./Store.ts"

/** What may be given, for descriptions of flags. */
export const FORMS = "an instant such as 2026-11-21T09:30:00Z, or how long ago it was: 90m, 2h, 3d"

const AGO = /^(\d{1,6})(m|h|d)$/
const UNIT_MILLIS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Long before anything that is stored, and an instant that everybody can write. */
const MAX_AGO_DAYS = 36_500
/** A number, a word, or both: no instant is written like that. */
const NO_INSTANT = /^[-+]?\d*\s*[a-z]*$/i

/** How long that is, in milliseconds; `undefined` when it is no such text. */
const millisOf = (text: string): number | undefined => {
  const [, amount, unit] = AGO.exec(text) ?? []
  return amount === undefined || unit === undefined
    ? undefined
    : Number(amount) * UNIT_MILLIS[unit as keyof typeof UNIT_MILLIS]
}

/** The instant in so many hours or days from now, 36500d at most. */
export const fromNow = Effect.fnUntraced(function* (flag: string, text: string) {
  const milliseconds = millisOf(text)
  if (milliseconds === undefined || milliseconds === 0) {
    return yield* new Misconfigured({
      message: `--${flag} must be minutes, hours or days: 90m, 12h, 30d. It is ${text}`,
    })
  }
  if (milliseconds > MAX_AGO_DAYS * UNIT_MILLIS.d) {
    return yield* new Misconfigured({ message: `--${flag} must be at most ${MAX_AGO_DAYS}d. It is ${text}` })
  }
  return DateTime.add(yield* DateTime.now, { milliseconds })
})

/** An instant as such. */
export const instant = Effect.fnUntraced(function* (flag: string, text: string) {
  const parsed = Instant.parse(text)
  if (parsed !== undefined) return parsed
  return yield* new Misconfigured({
    message: `--${flag} must be an instant such as 2026-12-31T00:00:00Z. It is ${text}`,
  })
})

/** The instant that the value of a flag means. Whether it is a right one is for the server to say. */
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
