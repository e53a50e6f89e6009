import { useQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import { pendingCount, percent, successRate } from "../api/Statistics.ts"
import type { Delivery, Endpoint, ListedEvent, Statistics } from "../api/Types.ts"
import { DeliveryCounts } from "../deliveries/DeliveryCounts.tsx"
import { EndpointName } from "../deliveries/EndpointName.tsx"
import { useSession } from "../session/Session.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { AnswerBadge, EndpointBadge, StatusBadge } from "../ui/StatusBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { HoursChart } from "./HoursChart.tsx"

const SHOWN = 6

const Figure = ({
  href,
  name,
  note,
  value,
}: {
  readonly name: string
  readonly value: ReactNode
  readonly note?: string
  readonly href: string
}) => (
  <div className="figure linked">
    <dt>
      <Link className="row-link" href={href}>
        {name}
      </Link>
    </dt>
    <dd>
      {value}
      {note !== undefined && <span className="figure-note">{note}</span>}
    </dd>
  </div>
)

const count = (value: number): string => value.toLocaleString("en-GB")

const Figures = ({ statistics }: { readonly statistics: Statistics }) => {
  const rate = successRate(statistics)
  return (
    <dl className="figures wide">
      <Figure
        href="/deliveries"
        name="Arrived"
        note="of what ended in 24 h"
        value={rate === undefined ? "–" : percent(rate)}
      />
      <Figure
        href="/deliveries?status=Delivered"
        name="Delivered"
        note="in 24 h"
        value={count(statistics.delivered)}
      />
      <Figure
        href="/deliveries?status=Failed"
        name="Failed"
        note="in 24 h"
        value={count(statistics.failed)}
      />
      <Figure href="/deliveries?status=Pending" name="Pending" note="now" value={pendingCount(statistics)} />
      <Figure
        href="/deliveries"
        name="Failed attempts"
        note="in 24 h"
        value={count(statistics.failed_attempts)}
      />
    </dl>
  )
}

const Section = ({
  children,
  href,
  id,
  more,
  title,
}: {
  readonly id: string
  readonly title: string
  readonly href: string
  readonly more: string
  readonly children: ReactNode
}) => (
  <section aria-labelledby={id} className="section">
    <header className="section-header">
      <h2 id={id}>{title}</h2>
      <Link href={href}>{more}</Link>
    </header>
    {children}
  </section>
)

const FailureLine = ({ delivery }: { readonly delivery: Delivery }) => (
  <li className="line linked">
    <StatusBadge status={delivery.status} />
    <span className="grow two-lines">
      <Link className="row-link" href={`/deliveries/${delivery.id}`}>
        {delivery.event_type}
      </Link>
      <span className="muted clip">
        <EndpointName className="cell-link" id={delivery.endpoint_id} />
      </span>
    </span>
    <AnswerBadge error={delivery.last_error} status={delivery.last_response_status} />
    <Time at={delivery.created_at} />
  </li>
)

const Failures = () => {
  const { client } = useSession()
  const query = useQuery({
    queryKey: ["deliveries", "failed", SHOWN],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/deliveries", { query: { status: "Failed", limit: SHOWN }, signal }),
    refetchInterval: Queries.LIVE_MILLIS,
  })
  return (
    <Section href="/deliveries?status=Failed" id="failures" more="All failed" title="Newest failures">
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="muted">Nothing has failed.</p>
          ) : (
            <ul className="lines">
              {data.map((delivery) => (
                <FailureLine delivery={delivery} key={delivery.id} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  )
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

const useNewestEvents = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["events", "newest", SHOWN],
    queryFn: ({ signal }) => client.call("get", "/v1/events", { query: { limit: SHOWN }, signal }),
    refetchInterval: Queries.LIVE_MILLIS,
  })
}

const NewestEvents = () => (
  <Section href="/events" id="events" more="All events" title="Newest events">
    <Loaded query={useNewestEvents()}>
      {({ data }) =>
        data.length === 0 ? (
          <p className="muted">No events yet.</p>
        ) : (
          <ul className="lines">
            {data.map((event) => (
              <EventLine event={event} key={event.id} />
            ))}
          </ul>
        )
      }
    </Loaded>
  </Section>
)

const needsAttention = ({ failing_since: since, status }: Endpoint): boolean =>
  status === "disabled" || since !== null

const Attention = ({ endpoints }: { readonly endpoints: ReadonlyArray<Endpoint> }) => {
  const troubled = endpoints.filter(needsAttention)
  if (troubled.length === 0) return null
  return (
    <Section href="/endpoints" id="attention" more="All endpoints" title="Endpoints that need attention">
      <ul className="lines">
        {troubled.map((endpoint) => (
          <li className="line linked" key={endpoint.id}>
            <EndpointBadge endpoint={endpoint} />
            <Link className="row-link grow clip" href={`/endpoints/${endpoint.id}`}>
              {endpoint.url}
            </Link>
            <Time at={endpoint.disabled_at ?? endpoint.failing_since ?? endpoint.updated_at} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

export const OverviewPage = () => {
  const statistics = Queries.useStatistics()
  const endpoints = Queries.useEndpoints()
  const events = useNewestEvents()
  const customers = Queries.useNewestCustomers()
  const isNew = endpoints.data?.length === 0 || events.data?.data.length === 0
  return (
    <Page title="Overview">
      {isNew && (
        <FirstSteps
          hasCustomer={(customers.data?.data.length ?? 0) > 0}
          hasEndpoint={(endpoints.data?.length ?? 0) > 0}
          hasEvent={(events.data?.data.length ?? 0) > 0}
        />
      )}
      <Loaded lines={5} query={statistics}>
        {(loaded) => (
          <section aria-labelledby="deliveries" className="section">
            <h2 className="visually-hidden" id="deliveries">
              Deliveries of the last 24 hours
            </h2>
            <Figures statistics={loaded} />
            {loaded.delivered + loaded.failed > 0 && <HoursChart failed="failed" hours={loaded.hours} />}
          </section>
        )}
      </Loaded>
      <Attention endpoints={endpoints.data ?? []} />
      <div className="columns even">
        <Failures />
        <NewestEvents />
      </div>
    </Page>
  )
}
