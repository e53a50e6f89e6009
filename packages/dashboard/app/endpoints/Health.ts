/**
 * Whether an endpoint fails, or only had an attempt fail: that happens to everybody, and the next one mends it.
 */
import type { Endpoint, EndpointStatistics } from "../api/Types.ts"

const MINUTE_MILLIS = 60_000
const HOUR_MILLIS = 60 * MINUTE_MILLIS
const DAY_MILLIS = 24 * HOUR_MILLIS

/** So many attempts have to fail, over so many milliseconds without one that succeeds. */
const MIN_FAILURES = 3
const MIN_FAILING_MILLIS = MINUTE_MILLIS

/** Statistics count by hours: those of the hour in which it began may have failed before. */
const failuresSince = (since: number, statistics: EndpointStatistics | undefined): number =>
  (statistics?.hours ?? [])
    .filter(({ start }) => Date.parse(start) > since - HOUR_MILLIS)
    .reduce((sum, hour) => sum + hour.failed_attempts, 0)

export type Health = "disabled" | "failing" | "enabled"

/** The state of an endpoint. One that has failed for longer than statistics reach back is failing by that alone. */
export const healthOf = (
  { failing_since: failingSince, status }: Pick<Endpoint, "failing_since" | "status">,
  statistics: EndpointStatistics | undefined,
  now: number,
): Health => {
  if (status === "disabled") return "disabled"
  if (failingSince === null) return "enabled"
  const since = Date.parse(failingSince)
  if (now - since >= DAY_MILLIS) return "failing"
  const isLong = now - since >= MIN_FAILING_MILLIS
  return isLong && failuresSince(since, statistics) >= MIN_FAILURES ? "failing" : "enabled"
}
