import { useQuery } from "@tanstack/react-query"
import type { Client } from "../api/Client.ts"
import { listAll } from "../api/listAll.ts"
import type { Plan, PlanVersion } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"

/** How long plans are cached. They change only when somebody pushes. */
const PLANS_MILLIS = 30_000
/** The most pages of plans or of versions that are loaded: 1,000 items. */
const MAX_PAGES = 10

export interface PlanChoice {
  readonly key: string
  /** Empty: the newest one. */
  readonly version: string
}

const listPlans = async (client: Client, signal: AbortSignal): Promise<ReadonlyArray<Plan>> =>
  (await listAll<Plan>(MAX_PAGES, (query) => client.call("get", "/v1/plans", { query, signal }))).items

const listVersions = async (
  client: Client,
  key: string,
  signal: AbortSignal,
): Promise<ReadonlyArray<PlanVersion>> => {
  const { items } = await listAll<PlanVersion>(MAX_PAGES, (query) =>
    client.call("get", "/v1/plans/{key}/versions", { path: { key }, query, signal }),
  )
  return items
}

export const usePlans = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["plans", "all"],
    queryFn: ({ signal }) => listPlans(client, signal),
    staleTime: PLANS_MILLIS,
  })
}

/** The versions of a plan, newest first. */
export const useVersions = (key: string | undefined) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["plans", "versions", key],
    queryFn: ({ signal }) => listVersions(client, key ?? "", signal),
    staleTime: PLANS_MILLIS,
    enabled: key !== undefined,
  })
}

/** The terms of a version of a plan, which is the newest one if none is chosen. `undefined` while they are loading. */
export const useTerms = ({ key, version }: PlanChoice): Plan["terms"] | undefined => {
  const plans = usePlans().data
  const versions = useVersions(version === "" ? undefined : key).data
  return version === ""
    ? plans?.find((plan) => plan.key === key)?.terms
    : versions?.find((each) => String(each.version) === version)?.terms
}
