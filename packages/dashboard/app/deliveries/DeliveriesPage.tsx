import { useState } from "react"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Delivery, DeliveryStatus } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import { EventFilter } from "../events/EventFilter.tsx"
import * as Instant from "../Instant.ts"
import { useSession } from "../session/Session.tsx"
import { type Column, DataTable, MOMENT_WIDTH } from "../ui/DataTable.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { FilterBar, type Filters, SelectFilter, useFilters } from "../ui/Filters.tsx"
import { Page } from "../ui/Page.tsx"
import { RefreshToggle } from "../ui/RefreshToggle.tsx"
import { AnswerBadge, StatusBadge } from "../ui/StatusBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { EndpointName } from "./EndpointName.tsx"
import { DELIVERY_STATUSES } from "./Statuses.ts"

const COLUMNS: ReadonlyArray<Column<Delivery>> = [
  {
    id: "status",
    header: "Status",
    width: "7.5rem",
    narrow: "fixed",
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: "type",
    header: "Event",
    width: "minmax(13.5rem, 1fr)",
    narrow: "first",
    cell: ({ event_type: type, id }) => (
      <Link className="row-link" href={`/deliveries/${id}`}>
        {type}
      </Link>
    ),
  },
  {
    id: "endpoint",
    header: "Endpoint",
    width: "minmax(12rem, 2fr)",
    cell: ({ endpoint_id: id }) => <EndpointName className="cell-link" id={id} isOneLine />,
  },
  {
    id: "answer",
    header: "Last answer",
    width: "minmax(9.5rem, 0.8fr)",
    narrow: "hidden",
    cell: ({ last_error: error, last_response_status: status }) => (
      <AnswerBadge error={error} status={status} />
    ),
  },
  {
    id: "attempts",
    header: "Attempts",
    width: "5rem",
    isNumber: true,
    narrow: "hidden",
    cell: ({ attempt_count: count }) => count,
  },
  {
    id: "made",
    header: `Made (${Instant.zone})`,
    width: MOMENT_WIDTH,
    isNumber: true,
    narrow: "end",
    cell: ({ created_at: at }) => <Time at={at} />,
  },
]

const DeliveryFilters = ({ filters }: { readonly filters: Filters }) => {
  const endpoints = Queries.useEndpoints().data ?? []
  return (
    <FilterBar filters={filters}>
      <SelectFilter filters={filters} label="Status" name="status" options={DELIVERY_STATUSES} />
      <SelectFilter
        filters={filters}
        label="Endpoint"
        name="endpoint"
        options={endpoints.map(({ id, url }) => [id, url] as const)}
      />
      <EventFilter filters={filters} name="event" />
    </FilterBar>
  )
}

const NoDeliveries = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState title="No deliveries match these filters">
      <p>Clear a filter to see more.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No deliveries yet">
      <p>
        A delivery sends one event to one endpoint. Create an <Link href="/endpoints">endpoint</Link> and send
        it a test event.
      </p>
    </EmptyState>
  )

export const DeliveriesPage = () => {
  const { client } = useSession()
  const filters = useFilters()
  const [isLive, setIsLive] = useState(true)
  const query = {
    status: filters.get("status") as DeliveryStatus | undefined,
    endpoint_id: filters.get("endpoint"),
    event_id: filters.get("event"),
  }
  const list = useLiveList<Delivery>({
    key: ["deliveries", query],
    fetchPage: (page, signal) =>
      client.call("get", "/v1/deliveries", { query: { ...query, ...page }, signal }),
    isLive,
  })
  return (
    <Page actions={<RefreshToggle isLive={isLive} onChange={setIsLive} />} isList title="Deliveries">
      <DeliveryFilters filters={filters} />
      <DataTable
        columns={COLUMNS}
        empty={<NoDeliveries isFiltered={filters.isAny} />}
        label="Deliveries"
        list={list}
      />
    </Page>
  )
}
