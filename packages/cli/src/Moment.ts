/**
 * Instants on the command line: as such, or by how long ago they were.
 */
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

/** The instant that the value of a flag means. Whether it is a right one is for the server to say. */
export const instantOf = Effect.fnUntraced(function* (flag: string, text: string) {
  const [, amount, unit] = AGO.exec(text) ?? []
  if (amount === undefined || unit === undefined) {
    if (!NO_INSTANT.test(text)) return text
    return yield* new Misconfigured({ message: `--${flag} must be ${FORMS}. It is ${text}` })
  }
  const milliseconds = Number(amount) * UNIT_MILLIS[unit as keyof typeof UNIT_MILLIS]
  if (milliseconds > MAX_AGO_DAYS * UNIT_MILLIS.d) {
    return yield* new Misconfigured({
      message: `--${flag} must be at most ${MAX_AGO_DAYS}d ago. It is ${text}`,
    })
  }
  return DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { milliseconds }))
})
