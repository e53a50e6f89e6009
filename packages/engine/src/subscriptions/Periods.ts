/**
 * The periods of a subscription: a grid of boundaries, each computed from the anchor.
 *
 * Boundary `k` is `k` intervals after the anchor on the local clock, so January 31 gives February 28, March 31, April
 * 30. The rules of the time zone are applied last: see {@link LocalTime.toInstant} for times that clocks skip or repeat.
 * A period is half-open: an instant on a boundary belongs to the period that begins there.
 */
import type { Interval } from "../catalog/Plan.ts"
import * as LocalTime from "./LocalTime.ts"

/** A grid of periods. */
export interface Periods {
  /**
   * The local date and time that boundaries are computed from: `2026-01-31T09:30:00.000`. It may be before or after the
   * start of the subscription. Calendar billing has an anchor on the first day of a month.
   */
  readonly anchor: string
  /** An IANA time zone, such as `Europe/Berlin`. */
  readonly timezone: string
  readonly unit: Interval["unit"]
  readonly count: number
}

/** A period of the grid, in epoch milliseconds: from `start` up to but not including `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The mean length of a unit, to guess the index of an instant. */
const MEAN_DAYS: Readonly<Record<Interval["unit"], number>> = {
  day: 1,
  week: 7,
  month: 365.2425 / 12,
  year: 365.2425,
}

const anchorOf = ({ anchor }: Periods): number => {
  const local = LocalTime.parse(anchor)
  if (local === undefined) throw new RangeError(`anchor must be a local date and time from 1900: ${anchor}`)
  return local
}

const localBoundary = (periods: Periods, anchor: number, k: number): number => {
  const units = k * periods.count
  switch (periods.unit) {
    case "day":
      return anchor + units * LocalTime.DAY_MILLIS
    case "week":
      return anchor + units * 7 * LocalTime.DAY_MILLIS
    case "month":
      return LocalTime.addMonths(anchor, units)
    case "year":
      return LocalTime.addMonths(anchor, units * 12)
  }
}

/**
 * The instant at which period `k` begins, for any integer `k`. Boundaries never fall as `k` rises. Two are equal only
 * where a zone skipped a whole date, as Pacific/Apia did on 2011-12-30: the period of that day is empty.
 */
export const boundary = (periods: Periods, k: number): number =>
  LocalTime.toInstant(localBoundary(periods, anchorOf(periods), k), periods.timezone)

/** A period of the grid, with its index. */
interface IndexedSpan extends Span {
  readonly k: number
}

const indexedSpanAt = (periods: Periods, instant: number): IndexedSpan => {
  const sinceAnchor = LocalTime.ofInstant(instant, periods.timezone) - anchorOf(periods)
  let k = Math.floor(sinceAnchor / (MEAN_DAYS[periods.unit] * periods.count * LocalTime.DAY_MILLIS))
  let start = boundary(periods, k)
  while (start > instant) start = boundary(periods, --k)
  let end = boundary(periods, k + 1)
  while (end <= instant) {
    k++
    start = end
    end = boundary(periods, k + 1)
  }
  return { k, start, end }
}

/** The index of the period that contains an instant: the greatest `k` whose boundary is not after it. */
export const indexAt = (periods: Periods, instant: number): number => indexedSpanAt(periods, instant).k

/** The instant that lies an interval after another one on the local clock. */
export const instantAfter = (instant: number, interval: Interval, timezone: string): number => {
  const anchor = LocalTime.format(LocalTime.ofInstant(instant, timezone))
  return boundary({ anchor, timezone, ...interval }, 1)
}

/** The period that contains an instant. */
export const spanAt = (periods: Periods, instant: number): Span => {
  const { end, start } = indexedSpanAt(periods, instant)
  return { start, end }
}
