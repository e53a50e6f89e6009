import * as Instant from "../Instant.ts"
import { useNow } from "./Clock.ts"

/** How long ago an instant was; the instant itself stands in the title. */
export const Time = ({ at }: { readonly at: string }) => {
  // An instant from after the last tick is not in the future.
  const now = Math.max(useNow(), Date.now())
  return (
    <time dateTime={at} title={Instant.exact(at)}>
      {Instant.relative(at, now)}
    </time>
  )
}
