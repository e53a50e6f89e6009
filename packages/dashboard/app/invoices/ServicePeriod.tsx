import { useSubscriptionZone } from "../api/Queries.ts"
import type { Subscription } from "../api/Types.ts"
import { Period } from "../ui/Period.tsx"

/** A subscription of a preview, which may not be stored. */
export type Previewed = Pick<Subscription, "id" | "timezone">

/** The period of an invoice or of a line, in days of its subscription. */
export const ServicePeriod = ({
  end,
  previewed,
  start,
  subscriptionId,
}: {
  readonly start: string | null
  readonly end: string | null
  readonly subscriptionId: string | null
  readonly previewed?: Previewed | undefined
}) => {
  const known = previewed?.id === subscriptionId ? previewed?.timezone : undefined
  const stored = useSubscriptionZone(known === undefined ? subscriptionId : null)
  return <Period end={end} start={start} zone={known ?? stored} />
}
