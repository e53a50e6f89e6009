/**
 * How many events a range replay would send. The replay itself has no trial run, so that the lists are counted.
 */
import type { Client } from "../api/Client.ts"
import { PAGE_LIMIT } from "../api/Queries.ts"
import type { Endpoint, ListPage } from "../api/Types.ts"

export interface ReplayRange {
  readonly since: string
  readonly until?: string
  readonly status: "Failed" | "all"
}

export interface ReplayCount {
  readonly count: number
  /** Whether all were counted; if not, there are more. */
  readonly isComplete: boolean
}

/** Pages that are counted at most: a bigger replay needs no exact figure. */
const MAX_PAGES = 10

interface Counting<A> {
  readonly fetchPage: (after: string | undefined) => Promise<ListPage<A>>
  /** The event that an item counts for; `undefined` when it is not to be sent. */
  readonly eventOf: (item: A) => string | undefined
  /** Whether all that follow are older than the range. */
  readonly isPast: (item: A) => boolean
}

const countPages = async <A extends { readonly id: string }>({
  eventOf,
  fetchPage,
  isPast,
}: Counting<A>): Promise<ReplayCount> => {
  const events = new Set<string>()
  let last: A | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const { data, has_more: hasMore } = await fetchPage(last?.id)
    for (const item of data) {
      const event = isPast(item) ? undefined : eventOf(item)
      if (event !== undefined) events.add(event)
    }
    last = data.at(-1)
    if (!hasMore || last === undefined || isPast(last)) return { count: events.size, isComplete: true }
  }
  return { count: events.size, isComplete: false }
}

const admits = ({ event_types: types }: Endpoint, type: string): boolean =>
  types.includes("*") || types.includes(type)

/**
 * Counts the events with a failed delivery to the endpoint that was made since then, or all events of the time
 * that the endpoint admits. A delivery is made no earlier than its event, so that none is missed.
 */
export const countEvents = (
  client: Client,
  endpoint: Endpoint,
  { since, status, until }: ReplayRange,
  signal: AbortSignal,
): Promise<ReplayCount> =>
  status === "all"
    ? countPages({
        fetchPage: (after) => {
          const query = {
            limit: PAGE_LIMIT,
            starting_after: after,
            created_after: since,
            created_before: until,
          }
          return client.call("get", "/v1/events", { query, signal })
        },
        eventOf: ({ id, type }) => (admits(endpoint, type) ? id : undefined),
        isPast: () => false,
      })
    : countPages({
        fetchPage: (after) => {
          const query = { limit: PAGE_LIMIT, starting_after: after, endpoint_id: endpoint.id, status }
          return client.call("get", "/v1/deliveries", { query, signal })
        },
        eventOf: (delivery) => delivery.event_id,
        isPast: ({ created_at: at }) => Date.parse(at) < Date.parse(since),
      })
