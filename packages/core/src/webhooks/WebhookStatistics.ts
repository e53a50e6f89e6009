/**
 * Statistics of deliveries by hour and endpoint. They are counted when results are written, so reading them does not
 * read the deliveries.
 */
import { DateTime, Schema } from "effect"
import type { EndpointId } from "./Endpoint.ts"

/** Longest time that statistics cover: a week of hours. */
export const MAX_STATISTICS_HOURS = 168
/** The hours that statistics cover by default. */
export const DEFAULT_STATISTICS_HOURS = 24

const HOUR_MILLIS = 3_600_000

const hoursMessage = { message: `must be an integer from 1 to ${MAX_STATISTICS_HOURS}` }

/** Which statistics to read. */
export const AskStatistics = Schema.Struct({
  /** How many hours of UTC, with the current one, which is not over: 1 to 168, default 24. */
  hours: Schema.optionalKey(
    Schema.Int.annotate(hoursMessage).check(
      Schema.isBetween({ minimum: 1, maximum: MAX_STATISTICS_HOURS }, hoursMessage),
    ),
  ),
})
export interface AskStatistics extends Schema.Schema.Type<typeof AskStatistics> {}

/** Counts of deliveries and attempts. */
export interface Counts {
  /** Deliveries that became `Delivered`. */
  readonly delivered: number
  /** Deliveries that became `Failed`. */
  readonly failed: number
  /** Attempts that failed, with those whose result was lost. */
  readonly failedAttempts: number
}

/** The counts of one endpoint in one hour. */
export interface HourCounts extends Counts {
  readonly endpointId: EndpointId
  /** When the hour begins: epoch milliseconds, a multiple of 3,600,000. */
  readonly hour: number
}

/** What storage knows: counts that are not all zero, and how much is pending for each endpoint now. */
export interface StoredCounts {
  readonly hours: ReadonlyArray<HourCounts>
  /** Counted up to `MAX_PENDING_COUNT` for each endpoint. */
  readonly pending: ReadonlyMap<EndpointId, number>
}

/** Most pending deliveries that are counted for an endpoint. Counting a longer queue would cost too much. */
export const MAX_PENDING_COUNT = 10_000

/** The counts of the hour that begins at `start`. */
export interface HourStatistics extends Counts {
  readonly start: DateTime.Utc
}

export interface EndpointStatistics extends Counts {
  readonly endpointId: EndpointId
  readonly pending: number
  /** One entry for each hour, oldest first, also for hours without deliveries. */
  readonly hours: ReadonlyArray<HourStatistics>
}

export interface WebhookStatistics extends Counts {
  readonly since: DateTime.Utc
  readonly until: DateTime.Utc
  /** Deliveries that are pending now, to all endpoints. */
  readonly pending: number
  /** One entry for each hour, oldest first, also for hours without deliveries. */
  readonly hours: ReadonlyArray<HourStatistics>
  /** The endpoints with any counts, also deleted ones, sorted by id. */
  readonly endpoints: ReadonlyArray<EndpointStatistics>
}

/** The start of the hour that an instant is in. Both are epoch milliseconds. */
export const hourOf = (millis: number): number => Math.floor(millis / HOUR_MILLIS) * HOUR_MILLIS

/** The start of the first hour when `hours` of them are covered and the last is the current one. Epoch milliseconds. */
export const firstHour = (nowMillis: number, hours: number): number =>
  hourOf(nowMillis) - (hours - 1) * HOUR_MILLIS

const NOTHING: Counts = { delivered: 0, failed: 0, failedAttempts: 0 }

const add = (a: Counts, b: Counts): Counts => ({
  delivered: a.delivered + b.delivered,
  failed: a.failed + b.failed,
  failedAttempts: a.failedAttempts + b.failedAttempts,
})

const hoursFrom = (
  start: number,
  count: number,
  counts: ReadonlyArray<HourCounts>,
): ReadonlyArray<HourStatistics> => {
  const byHour = new Map<number, Counts>()
  for (const one of counts) byHour.set(one.hour, add(byHour.get(one.hour) ?? NOTHING, one))
  return Array.from({ length: count }, (_, index) => {
    const hour = start + index * HOUR_MILLIS
    return { start: DateTime.makeUnsafe(hour), ...(byHour.get(hour) ?? NOTHING) }
  })
}

/** Statistics of the last `count` hours, from the counts of storage. */
export const make = (counts: StoredCounts, now: DateTime.Utc, count: number): WebhookStatistics => {
  const start = firstHour(now.epochMilliseconds, count)
  const within = counts.hours.filter(({ hour }) => hour >= start)
  const ids = [...new Set([...within.map(({ endpointId }) => endpointId), ...counts.pending.keys()])].sort()
  const endpoints = ids.map((endpointId): EndpointStatistics => {
    const own = within.filter((hour) => hour.endpointId === endpointId)
    return {
      endpointId,
      pending: counts.pending.get(endpointId) ?? 0,
      ...own.reduce(add, NOTHING),
      hours: hoursFrom(start, count, own),
    }
  })
  return {
    since: DateTime.makeUnsafe(start),
    until: now,
    pending: endpoints.reduce((sum, { pending }) => sum + pending, 0),
    ...within.reduce<Counts>(add, NOTHING),
    hours: hoursFrom(start, count, within),
    endpoints,
  }
}
