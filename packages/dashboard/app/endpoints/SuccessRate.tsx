import { percent, successRate } from "../api/Statistics.ts"
import type { EndpointStatistics } from "../api/Types.ts"

/** The share of an endpoint's deliveries in the last day that were delivered. */
export const SuccessRate = ({ statistics }: { readonly statistics: EndpointStatistics | undefined }) => {
  const rate = statistics === undefined ? undefined : successRate(statistics)
  if (statistics === undefined || rate === undefined) return <span className="muted">nothing ended</span>
  return (
    <span title={`${statistics.delivered} delivered, ${statistics.failed} failed in 24 hours`}>
      {percent(rate)}
    </span>
  )
}
