import { Link } from "wouter"
import type { PlanVersion } from "../api/Types.ts"
import type { SubscriberCounts } from "./useSubscriberCounts.ts"

/** Says that not all subscriptions were counted, if so. */
export const SubscriberNote = ({ counts }: { readonly counts: SubscriberCounts | undefined }) =>
  counts?.isCut === true && (
    <p className="muted">
      Counted among the newest {counts.seen.toLocaleString("en-GB")} subscriptions. There are more.
    </p>
  )

/** `12 subscriptions`. */
export const subscribersText = (count: number): string =>
  count === 1 ? "1 subscription" : `${count.toLocaleString("en-GB")} subscriptions`

/** How many subscriptions are on a plan, or on a version of it. It leads to them. */
export const Subscribers = ({
  counts,
  planKey,
  version,
}: {
  readonly counts: SubscriberCounts | undefined
  readonly planKey: string
  readonly version?: PlanVersion["version"]
}) =>
  counts === undefined ? (
    "…"
  ) : (
    <Link
      href={`/subscriptions?plan=${encodeURIComponent(planKey)}${version === undefined ? "" : `&version=${version}`}`}
    >
      {subscribersText(counts.of(planKey, version))}
    </Link>
  )
