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
/** How long names and time zones are cached. They rarely change. */
const NAME_MILLIS = 60_000
/** The time zone where the API names none: it doesn't tell the seller's. A seller with another one has other days in documents. */
export const UTC = "UTC"
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
 * A customer as others refer to it. Most customers are among the newest, which are loaded in one request. Others are loaded
 * one by one when they become visible.
 */
const useReferredCustomer = (id: string | undefined) => {
  const { client } = useSession()
  const newest = useQuery({
    queryKey: ["customers", "referred"],
    queryFn: async ({ signal }) => {
      const { data } = await client.call("get", "/v1/customers", { query: { limit: PAGE_LIMIT }, signal })
      return new Map(data.map((customer) => [customer.id, customer]))
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
  return { customer: known ?? one.data, isUnknown: one.isError }
}

/** The name of a customer. */
export const useCustomerName = (id: string | undefined): string | undefined =>
  useReferredCustomer(id).customer?.name

/** The time zone of a customer's days. `undefined` while it is being loaded. */
export const useCustomerZone = (id: string): string | undefined => {
  const { customer, isUnknown } = useReferredCustomer(id)
  if (customer === undefined) return isUnknown ? UTC : undefined
  return customer.timezone ?? UTC
}

/** The time zone of a subscription's periods: that of the seller without one. `undefined` while it is being loaded. */
export const useSubscriptionZone = (id: string | null): string | undefined => {
  const { client } = useSession()
  const { data, isError } = useQuery({
    queryKey: ["subscriptions", "one", id],
    queryFn: ({ signal }) => client.call("get", "/v1/subscriptions/{id}", { path: { id: id ?? "" }, signal }),
    enabled: id !== null,
    staleTime: NAME_MILLIS,
  })
  return data?.timezone ?? (id === null || isError ? UTC : undefined)
}

/** Loads everything again that webhooks may have changed. */
export const useRefreshWebhooks = () => {
  const queries = useQueryClient()
  return async (): Promise<void> => {
    const areas = ["events", "deliveries", "endpoints", "statistics"]
    await Promise.all(areas.map((area) => queries.invalidateQueries({ queryKey: [area] })))
  }
}
