/**
 * The requests of the pages, as hooks with a cache.
 */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { useSession } from "../session/Session.tsx"
import type { Client } from "./Client.ts"
import type { Endpoint, EventWithDeliveries } from "./Types.ts"

/** How often data that may change by itself is loaded again, in milliseconds. */
export const LIVE_MILLIS = 3_000
/** How often a pending delivery that is shown is loaded again, in milliseconds. */
const AWAITED_MILLIS = 1_000
const STATISTICS_MILLIS = 10_000
/** How long names of customers are cached. They rarely change. */
const NAME_MILLIS = 60_000
/** How long the catalogue is cached. It only changes when the server is restarted. */
const CATALOGUE_MILLIS = 300_000
/** The most items in a page of a list. */
export const PAGE_LIMIT = 100

const STATISTICS_HOURS = 24

export const useStatistics = ({ isEnabled = true }: { readonly isEnabled?: boolean } = {}) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["statistics"],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/webhook_statistics", { query: { hours: STATISTICS_HOURS }, signal }),
    refetchInterval: STATISTICS_MILLIS,
    enabled: isEnabled,
  })
}

export const useEventTypes = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["event_types"],
    queryFn: ({ signal }) => client.call("get", "/v1/event_types", { signal }),
    staleTime: CATALOGUE_MILLIS,
  })
}

/** All endpoints: there are at most a few hundred. */
const listAllEndpoints = async (client: Client, signal: AbortSignal): Promise<ReadonlyArray<Endpoint>> => {
  const all: Array<Endpoint> = []
  for (;;) {
    const query = { limit: PAGE_LIMIT, starting_after: all.at(-1)?.id }
    const page = await client.call("get", "/v1/webhook_endpoints", { query, signal })
    all.push(...page.data)
    if (!page.has_more || page.data.length === 0) return all
  }
}

export const useEndpoints = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["endpoints"],
    queryFn: ({ signal }) => listAllEndpoints(client, signal),
    refetchInterval: STATISTICS_MILLIS,
  })
}

export const useEndpoint = (id: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["endpoints", id],
    queryFn: ({ signal }) => client.call("get", "/v1/webhook_endpoints/{id}", { path: { id }, signal }),
    refetchInterval: STATISTICS_MILLIS,
  })
}

const hasPending = (event: EventWithDeliveries | undefined): boolean =>
  event?.deliveries.some(({ status }) => status === "Pending") ?? false

/** An event. It is loaded again while one of its deliveries is pending. */
export const useEvent = (id: string | undefined) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["events", "one", id],
    queryFn: ({ signal }) => client.call("get", "/v1/events/{id}", { path: { id: id ?? "" }, signal }),
    refetchInterval: ({ state }) => (hasPending(state.data) ? LIVE_MILLIS : false),
    enabled: id !== undefined,
  })
}

/** A delivery. It is loaded again while it is pending. */
export const useDelivery = (id: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["deliveries", "one", id],
    queryFn: ({ signal }) => client.call("get", "/v1/deliveries/{id}", { path: { id }, signal }),
    refetchInterval: ({ state }) => (state.data?.status === "Pending" ? AWAITED_MILLIS : false),
  })
}

export const useCustomer = (id: string | undefined) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["customers", "one", id],
    queryFn: ({ signal }) => client.call("get", "/v1/customers/{id}", { path: { id: id ?? "" }, signal }),
    enabled: id !== undefined,
  })
}

/** The newest customers, or the newest of those with a text in name or e-mail address. */
export const useNewestCustomers = (search?: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["customers", "newest", search],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/customers", { query: { limit: PAGE_LIMIT, search }, signal }),
    placeholderData: keepPreviousData,
  })
}

/**
 * The name of a customer. Most customers are among the newest, which are loaded in one request. Others are loaded one by
 * one when they become visible.
 */
export const useCustomerName = (id: string | undefined): string | undefined => {
  const { client } = useSession()
  const newest = useQuery({
    queryKey: ["customers", "names"],
    queryFn: async ({ signal }) => {
      const { data } = await client.call("get", "/v1/customers", { query: { limit: PAGE_LIMIT }, signal })
      return new Map(data.map((customer) => [customer.id, customer.name]))
    },
    enabled: id !== undefined,
    staleTime: NAME_MILLIS,
  })
  const known = id === undefined ? undefined : newest.data?.get(id)
  const one = useQuery({
    queryKey: ["customers", "one", id],
    queryFn: ({ signal }) => client.call("get", "/v1/customers/{id}", { path: { id: id ?? "" }, signal }),
    enabled: id !== undefined && known === undefined && !newest.isPending,
    staleTime: NAME_MILLIS,
  })
  return known ?? one.data?.name
}

/** Loads everything again that webhooks may have changed. */
export const useRefreshWebhooks = () => {
  const queries = useQueryClient()
  return async (): Promise<void> => {
    const areas = ["events", "deliveries", "endpoints", "statistics"]
    await Promise.all(areas.map((area) => queries.invalidateQueries({ queryKey: [area] })))
  }
}
