import { useQuery, type UseQueryResult } from "@tanstack/react-query"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { DeliveryStatus, ListedEvent, ListPage } from "../api/Types.ts"
import { DeliveryCounts } from "../deliveries/DeliveryCounts.tsx"
import { useSession } from "../session/Session.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Time } from "../ui/Time.tsx"

const SHOWN = 6

interface Which {
  readonly customerId?: string
  readonly status?: DeliveryStatus
}

/** The newest events, kept up to date. */
export const useNewestEvents = ({ customerId, status }: Which = {}) => {
  const { client } = useSession()
  const query = { limit: SHOWN, customer_id: customerId, delivery_status: status }
  return useQuery({
    queryKey: ["events", "newest", query],
    queryFn: ({ signal }) => client.call("get", "/v1/events", { query, signal }),
    refetchInterval: Queries.LIVE_MILLIS,
  })
}

const EventLine = ({ event }: { readonly event: ListedEvent }) => (
  <li className="line linked">
    <Link className="row-link grow" href={`/events/${event.id}`}>
      {event.type}
    </Link>
    <DeliveryCounts counts={event.delivery_counts} />
    <Time at={event.timestamp} />
  </li>
)

export const EventLines = ({
  empty,
  query,
}: {
  readonly query: UseQueryResult<ListPage<ListedEvent>>
  /** The text when there are no events. */
  readonly empty: string
}) => (
  <Loaded query={query}>
    {({ data }) =>
      data.length === 0 ? (
        <p className="muted">{empty}</p>
      ) : (
        <ul className="lines">
          {data.map((event) => (
            <EventLine event={event} key={event.id} />
          ))}
        </ul>
      )
    }
  </Loaded>
)
