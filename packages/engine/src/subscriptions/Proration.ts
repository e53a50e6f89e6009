/**
 * Which part of a period each of its segments is.
 *
 * A position in a period is what has passed of it: local days, or milliseconds. The share of a segment goes from its
 * first position to its last, out of the positions of the full period. Segments meet, so their shares sum to the part
 * that was served, exactly.
 */
import type { Policy } from "../catalog/Plan.ts"
import * as LocalTime from "./LocalTime.ts"
import type { Span } from "./Periods.ts"
import type { Period } from "./Subscription.ts"

/** What parts of a period are measured in. `none`: the first segment is the whole period, and all others are nothing. */
export type Measure = NonNullable<Policy["proration"]>

/** A part of a period: from position `from` to position `to`, of `of` positions. `0 ≤ from ≤ to ≤ of`, and `of` ≥ 1. */
export interface Share {
  readonly from: number
  readonly to: number
  readonly of: number
}

/**
 * The local date of an instant, in days since 1970-01-01. It is the last date that has begun: where clocks went back
 * over midnight, the date does not go back.
 */
const dateAt = (instant: number, timezone: string): number => {
  const date = Math.floor(LocalTime.ofInstant(instant, timezone) / LocalTime.DAY_MILLIS)
  return midnight(date + 1, timezone) <= instant ? date + 1 : date
}

/** The first instant of a local date. */
const midnight = (date: number, timezone: string): number =>
  LocalTime.toInstant(date * LocalTime.DAY_MILLIS, timezone)

/** Gives the position of an instant of the period, and how many positions there are. */
interface Ruler {
  readonly of: number
  readonly at: (instant: number, snap: "down" | "up") => number
}

const byTime = ({ end, start }: Span): Ruler => ({
  of: Math.max(end - start, 1),
  at: (instant) => instant - start,
})

const byDay = (span: Span, timezone: string): Ruler => {
  const first = dateAt(span.start, timezone)
  const of = dateAt(span.end, timezone) - first
  // Both boundaries are on one date, so days can't measure it.
  if (of === 0) return byTime(span)
  return {
    of,
    at: (instant, snap) => {
      if (instant >= span.end) return of
      const date = dateAt(instant, timezone)
      const isMidnight = midnight(date, timezone) === instant
      return Math.min(date - first + (snap === "up" && !isMidnight ? 1 : 0), of)
    },
  }
}

/** The share of each segment of a period, in order. */
export const sharesOf = (
  period: Pick<Period, "start" | "end" | "segments">,
  measure: Measure,
  timezone: string,
): ReadonlyArray<Share> => {
  const { segments } = period
  if (measure === "none") return segments.map((_, index) => ({ from: index === 0 ? 0 : 1, to: 1, of: 1 }))
  const ruler = measure === "day" ? byDay(period, timezone) : byTime(period)
  let position = ruler.at(segments[0].start, "down")
  return segments.map(({ end, snap }) => {
    const from = position
    // A day that was served is not served again by the segment after it.
    position = Math.max(from, ruler.at(end, snap))
    return { from, to: position, of: ruler.of }
  })
}
