import * as Queries from "../api/Queries.ts"
import type { Endpoint } from "../api/Types.ts"
import { useNow } from "../ui/Clock.ts"
import { type Health, healthOf } from "./Health.ts"

/** Returns the health of endpoints by the current statistics. */
export const useHealth = (): ((endpoint: Endpoint) => Health) => {
  const statistics = Queries.useStatistics().data?.endpoints
  const now = useNow()
  return (endpoint) =>
    healthOf(
      endpoint,
      statistics?.find(({ endpoint_id: id }) => id === endpoint.id),
      now,
    )
}
