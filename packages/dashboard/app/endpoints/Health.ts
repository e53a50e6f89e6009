/**
 * Whether an endpoint is failing. A single failed attempt is normal and doesn't count.
 */
import type { Endpoint, EndpointStatistics } from "../api/Types.ts"

const MINUTE_MILLIS = 60_000
const HOUR_MILLIS = 60 * MINUTE_MILLIS
const DAY_MILLIS = 24 * HOUR_MILLIS

/** An endpoint is failing after this many failed attempts, and this many milliseconds without a successful one. */
const MIN_FAILURES = 3
const MIN_FAILING_MILLIS = MINUTE_MILLIS

/** The failed attempts since an instant. Statistics count by hours, so earlier ones in the first hour are left out. */
const failuresSince = (since: number, statistics: EndpointStatistics | undefined): number =>
  (statistics?.hours ?? [])
    .filter(({ start }) => Date.parse(start) > since - HOUR_MILLIS)
    .reduce((sum, hour) => sum + hour.failed_attempts, 0)

export type Health = "disabled" | "failing" | "enabled"

/** The health of an endpoint. An endpoint that has failed for longer than the statistics reach is always failing. */
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
