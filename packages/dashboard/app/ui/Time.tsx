import * as Instant from "../Instant.ts"
import { useNow } from "./Clock.ts"

/**
 * An instant to the second, and how long ago that was. With `isWhole` as in logs: to the millisecond, in UTC. If there is
 * little room, the style sheets hide how long ago it was.
 */
export const Time = ({ at, isWhole = false }: { readonly at: string; readonly isWhole?: boolean }) => {
  // An instant after the last tick of the clock is not in the future.
  const now = Math.max(useNow(), Date.now())
  return (
    <time dateTime={at} title={Instant.exact(at)}>
      <span>{isWhole ? Instant.utc(at) : Instant.moment(at, now)}</span>{" "}
      <span className="time-ago">({Instant.relative(at, now)})</span>
    </time>
  )
}
