/**
 * How deliveries went: counted by hour and endpoint while they happen, never by reading them all.
 */
import { DateTime, Schema } from "effect"
import type { EndpointId } from "./Endpoint.ts"

/** Longest time that statistics cover: a week of hours. */
export const MAX_STATISTICS_HOURS = 168
/** Hours that are covered when the caller doesn't say. */
export const DEFAULT_STATISTICS_HOURS = 24

const HOUR_MILLIS = 3_600_000

const hoursMessage = { message: `must be an integer from 1 to ${MAX_STATISTICS_HOURS}` }

/** Which statistics to give. */
export const AskStatistics = Schema.Struct({
  /** The hours of UTC up to the current one, which is not over: 1 to 168, default 24. */
  hours: Schema.optionalKey(
    Schema.Int.annotate(hoursMessage).check(
      Schema.isBetween({ minimum: 1, maximum: MAX_STATISTICS_HOURS }, hoursMessage),
    ),
  ),
})
export interface AskStatistics extends Schema.Schema.Type<typeof AskStatistics> {}

/** What is counted. */
export interface Tally {
  /** Deliveries that became `Delivered`. */
  readonly delivered: number
  /** Deliveries that became `Failed`. */
  readonly failed: number
  /** Attempts that failed, those whose result was lost included. */
  readonly failedAttempts: number
}

/** The tally of one endpoint in one hour. */
export interface HourTally extends Tally {
  readonly endpointId: EndpointId
  /** When the hour begins: epoch milliseconds, a multiple of 3,600,000. */
  readonly hour: number
}

/** What storage knows: tallies that are not zero, and how much is pending for each endpoint now. */
export interface Tallies {
  readonly hours: ReadonlyArray<HourTally>
  /** Counted up to `MAX_PENDING_COUNT` for each endpoint. */
  readonly pending: ReadonlyMap<EndpointId, number>
}

/** Pending deliveries of an endpoint are counted up to here: reading a longer queue to count it would cost too much. */
export const MAX_PENDING_COUNT = 10_000

/** A tally of the hour that begins at `start`. */
export interface HourStatistics extends Tally {
  readonly start: DateTime.Utc
}

export interface EndpointStatistics extends Tally {
  readonly endpointId: EndpointId
  readonly pending: number
  /** One for each hour, oldest first, empty ones included. */
  readonly hours: ReadonlyArray<HourStatistics>
}

export interface WebhookStatistics extends Tally {
  readonly since: DateTime.Utc
  readonly until: DateTime.Utc
  /** Deliveries that are pending now, to any endpoint. */
  readonly pending: number
  /** One for each hour, oldest first, empty ones included. */
  readonly hours: ReadonlyArray<HourStatistics>
  /** Endpoints with anything to tell, deleted ones included, in the order of their ids. */
  readonly endpoints: ReadonlyArray<EndpointStatistics>
}

/** The hour that an instant lies in. */
export const hourOf = (millis: number): number => Math.floor(millis / HOUR_MILLIS) * HOUR_MILLIS

/** The beginning of the first of so many hours, the last of which is the current one. */
export const firstHour = (nowMillis: number, hours: number): number =>
  hourOf(nowMillis) - (hours - 1) * HOUR_MILLIS

const NOTHING: Tally = { delivered: 0, failed: 0, failedAttempts: 0 }

const add = (a: Tally, b: Tally): Tally => ({
  delivered: a.delivered + b.delivered,
  failed: a.failed + b.failed,
  failedAttempts: a.failedAttempts + b.failedAttempts,
})

const hoursFrom = (
  start: number,
  count: number,
  tallies: ReadonlyArray<HourTally>,
): ReadonlyArray<HourStatistics> => {
  const byHour = new Map<number, Tally>()
  for (const tally of tallies) byHour.set(tally.hour, add(byHour.get(tally.hour) ?? NOTHING, tally))
  return Array.from({ length: count }, (_, index) => {
    const hour = start + index * HOUR_MILLIS
    return { start: DateTime.makeUnsafe(hour), ...(byHour.get(hour) ?? NOTHING) }
  })
}

/** Statistics of the last `count` hours, from the tallies of storage. */
export const make = (tallies: Tallies, now: DateTime.Utc, count: number): WebhookStatistics => {
  const start = firstHour(now.epochMilliseconds, count)
  const within = tallies.hours.filter(({ hour }) => hour >= start)
  const ids = [...new Set([...within.map(({ endpointId }) => endpointId), ...tallies.pending.keys()])].sort()
  const endpoints = ids.map((endpointId): EndpointStatistics => {
    const own = within.filter((tally) => tally.endpointId === endpointId)
    return {
      endpointId,
      pending: tallies.pending.get(endpointId) ?? 0,
      ...own.reduce(add, NOTHING),
      hours: hoursFrom(start, count, own),
    }
  })
  return {
    since: DateTime.makeUnsafe(start),
    until: now,
    pending: endpoints.reduce((sum, { pending }) => sum + pending, 0),
    ...within.reduce<Tally>(add, NOTHING),
    hours: hoursFrom(start, count, within),
    endpoints,
  }
}
