import { useQuery } from "@tanstack/react-query"
import * as Instant from "../Instant.ts"
import { useSession } from "../session/Session.tsx"
import { totalsOf } from "./UsageTotals.ts"

/** How often totals are loaded again, in milliseconds. */
const REFRESH_MILLIS = 5_000
/** For how many past days used products are offered as choices, and how long these are cached. */
const METER_DAYS = 365
const METERS_MILLIS = 60_000

const seriesOf = (customerId: string, days: number) => ({
  customer_id: customerId,
  start_date: Instant.utcDay(Date.now(), days - 1),
  end_date: Instant.utcDay(Date.now()),
  group_by: ["product_id"],
})

/** A customer's totals of the last days, including today. */
export const useTotals = (customerId: string, days: number) => {
  const { client } = useSession()
  const query = { ...seriesOf(customerId, days), window: "day" } as const
  return useQuery({
    queryKey: ["usage", "totals", query],
    queryFn: async ({ signal }) =>
      totalsOf((await client.call("get", "/v1/usage/series", { query, signal })).data),
    refetchInterval: REFRESH_MILLIS,
  })
}

/** The products and units that a customer has used within a year, to choose from. */
export const useMeters = (customerId: string) => {
  const { client } = useSession()
  const query = { ...seriesOf(customerId, METER_DAYS), window: "month" } as const
  return useQuery({
    queryKey: ["usage", "meters", query],
    queryFn: async ({ signal }) =>
      totalsOf((await client.call("get", "/v1/usage/series", { query, signal })).data),
    staleTime: METERS_MILLIS,
  })
}
