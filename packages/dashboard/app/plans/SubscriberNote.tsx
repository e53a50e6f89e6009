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
