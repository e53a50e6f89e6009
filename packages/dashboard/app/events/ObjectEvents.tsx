/**
 * The events of an invoice or of another item of a customer, each to be sent again.
 */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import type { Client } from "../api/Client.ts"
import { listAll, type Listed } from "../api/listAll.ts"
import { PAGE_LIMIT } from "../api/Queries.ts"
import type { ListedEvent } from "../api/Types.ts"
import { DeliveryCounts } from "../deliveries/DeliveryCounts.tsx"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Time } from "../ui/Time.tsx"
import { ReplayDialog } from "./ReplayDialog.tsx"

/** The API finds events by their customer. So the newest pages of them are searched, at most this many. */
const MAX_PAGES = 5
const REFRESH_MILLIS = 10_000

/** The name of the field of the event's data that has the id of the item. */
type IdField = "invoice_id" | "payment_id" | "subscription_id"

interface Item {
  readonly customerId: string
  readonly field: IdField
  readonly id: string
}

const isOf = ({ data }: ListedEvent, { field, id }: Item): boolean =>
  typeof data === "object" && data !== null && (data as Readonly<Record<string, unknown>>)[field] === id

const search = async (client: Client, item: Item, signal: AbortSignal): Promise<Listed<ListedEvent>> => {
  const { isCut, items } = await listAll<ListedEvent>(MAX_PAGES, (page) =>
    client.call("get", "/v1/events", { query: { customer_id: item.customerId, ...page }, signal }),
  )
  return { items: items.filter((event) => isOf(event, item)), isCut }
}

const Lines = ({
  events,
  onReplay,
}: {
  readonly events: ReadonlyArray<ListedEvent>
  readonly onReplay: (event: ListedEvent) => void
}) => (
  <ul className="lines">
    {events.map((event) => (
      <li className="line" key={event.id}>
        <Link className="grow strong clip" href={`/events/${event.id}`}>
          {event.type}
        </Link>
        <DeliveryCounts counts={event.delivery_counts} />
        <Time at={event.timestamp} />
        <ActionButton
          className="button small"
          does="post /v1/events/{id}/replay"
          onClick={() => onReplay(event)}
        >
          Send again… <span className="visually-hidden">{event.type}</span>
        </ActionButton>
      </li>
    ))}
  </ul>
)

export const ObjectEvents = ({ customerId, field, id }: Item) => {
  const { client } = useSession()
  const [replayed, setReplayed] = useState<ListedEvent>()
  const query = useQuery({
    queryKey: ["events", "of", field, id],
    queryFn: ({ signal }) => search(client, { customerId, field, id }, signal),
    refetchInterval: REFRESH_MILLIS,
  })
  return (
    <section aria-labelledby="events-title" className="section">
      <header className="section-header">
        <h2 id="events-title">Events</h2>
        <Link href={`/events?customer=${customerId}`}>All events of the customer</Link>
      </header>
      <Loaded lines={2} query={query}>
        {({ isCut, items: events }) => (
          <>
            {events.length === 0 ? (
              <p className="muted">None.</p>
            ) : (
              <Lines events={events} onReplay={setReplayed} />
            )}
            {isCut && (
              <p className="muted">
                The newest {PAGE_LIMIT * MAX_PAGES} events of the customer were searched. Older ones are in
                the list of all events.
              </p>
            )}
          </>
        )}
      </Loaded>
      {replayed !== undefined && <ReplayDialog event={replayed} onClose={() => setReplayed(undefined)} />}
    </section>
  )
}
