/**
 * The meters of the tenant, and what the page's address says about them: the chosen meter, its filters and groups.
 */
import { useQuery } from "@tanstack/react-query"
import type { Client } from "../api/Client.ts"
import type { Meter } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import type { Filters } from "../ui/Filters.tsx"

const PAGE = 100
/** The most pages that are loaded: a tenant has at most 1,000 meters. */
const MAX_PAGES = 10
/** How often meters are loaded again, in milliseconds: while one is being built, and otherwise. */
const BUILDING_MILLIS = 1_000
const REFRESH_MILLIS = 10_000

const isUnfinished = ({ rebuild }: Meter): boolean => rebuild !== null && rebuild.status !== "failed"

const fetchAll = async (client: Client, signal: AbortSignal): Promise<ReadonlyArray<Meter>> => {
  const meters: Array<Meter> = []
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { limit: PAGE, starting_after: meters.at(-1)?.id }
    const { data, has_more: hasMore } = await client.call("get", "/v1/meters", { query, signal })
    meters.push(...data)
    if (!hasMore) break
  }
  return meters
}

/** All meters, newest first. */
export const useMeterList = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["meters"],
    queryFn: ({ signal }) => fetchAll(client, signal),
    refetchInterval: ({ state }) =>
      state.data?.some(isUnfinished) === true ? BUILDING_MILLIS : REFRESH_MILLIS,
  })
}

/** The parameter of the address that filters by a dimension. */
export const filterName = (dimension: string): string => `where.${dimension}`

export interface ChosenMeter {
  readonly meter: Meter
  /** The filters as the API has them: `model:opus`. */
  readonly where: ReadonlyArray<string>
  /** The dimension that totals are grouped by. */
  readonly groupBy: string | undefined
}

/** The meter that the address names. What the address says about dimensions of another meter doesn't count. */
export const useChosenMeter = (filters: Filters): ChosenMeter | undefined => {
  const key = filters.get("meter")
  const meter = useMeterList().data?.find((one) => one.key === key && one.status === "ready")
  if (meter === undefined) return undefined
  const where = meter.dimensions.flatMap((dimension) => {
    const value = filters.get(filterName(dimension))
    return value === undefined ? [] : [`${dimension}:${value}`]
  })
  const groupBy = filters.get("group")
  return { meter, where, groupBy: meter.dimensions.find((dimension) => dimension === groupBy) }
}
