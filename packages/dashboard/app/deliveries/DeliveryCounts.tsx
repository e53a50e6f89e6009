import type { DeliveryStatus, ListedEvent } from "../api/Types.ts"
import * as Quantity from "../Quantity.ts"
import { StatusBadge } from "../ui/StatusBadge.tsx"

type Counts = ListedEvent["delivery_counts"]

/** The counts of each status. Failed deliveries come first. */
const countsOf = ({
  delivered,
  failed,
  pending,
}: Counts): ReadonlyArray<readonly [DeliveryStatus, number]> => [
  ["Failed", failed],
  ["Pending", pending],
  ["Delivered", delivered],
]

/** The number of an event's deliveries in each status. */
export const DeliveryCounts = ({ counts }: { readonly counts: Counts }) => {
  const there = countsOf(counts).filter(([, count]) => count > 0)
  if (there.length === 0) return <span className="muted">none</span>
  const isOne = there.length === 1 && there[0]?.[1] === 1
  return (
    <span
      className="badges"
      title={there.map(([status, count]) => `${Quantity.format(count)} ${status}`).join(", ")}
    >
      {there.map(([status, count]) => (
        <StatusBadge key={status} status={status} {...(isOne ? {} : { count: Quantity.format(count) })} />
      ))}
    </span>
  )
}
