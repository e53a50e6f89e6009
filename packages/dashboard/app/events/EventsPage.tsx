import { useState } from "react"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { DeliveryStatus, ListedEvent } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import * as Curl from "../Curl.ts"
import { CustomerFilter } from "../customers/CustomerFilter.tsx"
import { CustomerName } from "../customers/CustomerName.tsx"
import { DeliveryCounts } from "../deliveries/DeliveryCounts.tsx"
import { DELIVERY_STATUSES } from "../deliveries/Statuses.ts"
import * as Instant from "../Instant.ts"
import { useSession } from "../session/Session.tsx"
import { apiAddress } from "../shell/ApiAddress.ts"
import { type Column, DataTable, MOMENT_WIDTH } from "../ui/DataTable.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { FilterBar, type Filters, InputFilter, SelectFilter, useFilters } from "../ui/Filters.tsx"
import { Page } from "../ui/Page.tsx"
import { RefreshToggle } from "../ui/RefreshToggle.tsx"
import { Time } from "../ui/Time.tsx"

const COLUMNS: ReadonlyArray<Column<ListedEvent>> = [
  {
    id: "type",
    header: "Type",
    width: "minmax(13rem, 1.1fr)",
    narrow: "first",
    cell: ({ id, type }) => (
      <Link className="row-link" href={`/events/${id}`}>
        {type}
      </Link>
    ),
  },
  {
    id: "deliveries",
    header: "Deliveries",
    width: "minmax(15.5rem, 1.1fr)",
    narrow: "fixed",
    cell: ({ delivery_counts: counts }) => <DeliveryCounts counts={counts} />,
  },
  {
    id: "id",
    header: "Event",
    width: "minmax(17rem, 1.2fr)",
    narrow: "hidden",
    cell: ({ id }) => <code title={id}>{id}</code>,
  },
  {
    id: "customer",
    header: "Customer",
    width: "minmax(9rem, 1fr)",
    cell: ({ customer_id: id }) =>
      id === null ? <span className="muted">none</span> : <CustomerName className="cell-link" id={id} />,
  },
  {
    id: "published",
    header: `Published (${Instant.zone})`,
    width: MOMENT_WIDTH,
    isNumber: true,
    narrow: "end",
    cell: ({ timestamp }) => <Time at={timestamp} />,
  },
]

/** The parameters of the list, from the page's address. */
const queryOf = (filters: Filters) => {
  const [from, to] = [filters.get("from"), filters.get("to")]
  return {
    type: filters.get("type"),
    delivery_status: filters.get("status") as DeliveryStatus | undefined,
    customer_id: filters.get("customer"),
    created_after: from === undefined ? undefined : Instant.startOfDay(from),
    created_before: to === undefined ? undefined : Instant.startOfDay(to, 1),
  }
}

const EventFilters = ({ filters }: { readonly filters: Filters }) => {
  const types = Queries.useEventTypes().data?.data ?? []
  return (
    <FilterBar filters={filters}>
      <SelectFilter
        filters={filters}
        label="Type"
        name="type"
        options={types.map(({ type }) => [type, type] as const)}
      />
      <SelectFilter filters={filters} label="Delivery" name="status" options={DELIVERY_STATUSES} />
      <CustomerFilter filters={filters} name="customer" />
      <InputFilter filters={filters} label="From" name="from" type="date" />
      <InputFilter filters={filters} label="To" name="to" type="date" />
    </FilterBar>
  )
}

/** A command that publishes the example of a type. */
const usePublishCommand = (): string | undefined => {
  const types = Queries.useEventTypes().data?.data ?? []
  const type = types.find((each) => each.type === "invoice.paid") ?? types[0]
  if (type === undefined) return undefined
  return Curl.apiCurl(apiAddress(), "POST", "/events", { type: type.type, data: type.example })
}

const NoEvents = ({ isFiltered }: { readonly isFiltered: boolean }) => {
  const command = usePublishCommand()
  return isFiltered ? (
    <EmptyState title="No events match these filters">
      <p>Clear a filter to see more.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No events yet" {...(command === undefined ? {} : { command })}>
      <p>
        Events appear here as they are published. Send a test event to an{" "}
        <Link href="/endpoints">endpoint</Link>, or publish one:
      </p>
    </EmptyState>
  )
}

export const EventsPage = () => {
  const { client } = useSession()
  const filters = useFilters()
  const [isLive, setIsLive] = useState(true)
  const query = queryOf(filters)
  const list = useLiveList<ListedEvent>({
    key: ["events", query],
    fetchPage: (page, signal) => client.call("get", "/v1/events", { query: { ...query, ...page }, signal }),
    isLive,
  })
  return (
    <Page actions={<RefreshToggle isLive={isLive} onChange={setIsLive} />} isList title="Events">
      <EventFilters filters={filters} />
      <DataTable
        columns={COLUMNS}
        empty={<NoEvents isFiltered={filters.isAny} />}
        label="Events"
        list={list}
      />
    </Page>
  )
}
