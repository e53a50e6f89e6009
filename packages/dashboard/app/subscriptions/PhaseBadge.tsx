import type { Subscription } from "../api/Types.ts"
import { StateBadge } from "../ui/StateBadge.tsx"
import { PHASES } from "./SubscriptionStates.ts"

/** The phase of a subscription. */
export const PhaseBadge = ({ phase }: Pick<Subscription, "phase">) => {
  const [tone, word] = PHASES[phase]
  return <StateBadge tone={tone} word={word} />
}

/** What else somebody should know of a subscription at a glance. */
export const WarningBadges = ({ subscription }: { readonly subscription: Subscription }) => (
  <>
    {subscription.past_due_since !== null && <StateBadge tone="bad" word="Past due" />}
    {subscription.ends_at !== null && subscription.ended_at === null && (
      <StateBadge tone="wait" word="Ends" />
    )}
    {subscription.failure !== null && <StateBadge tone="bad" word="Billing failed" />}
  </>
)
