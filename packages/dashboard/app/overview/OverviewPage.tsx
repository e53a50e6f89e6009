import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import { pendingCount, percent, successRate } from "../api/Statistics.ts"
import type { Delivery, Endpoint, Statistics } from "../api/Types.ts"
import { EndpointName } from "../deliveries/EndpointName.tsx"
import { useHealth } from "../endpoints/useHealth.ts"
import { EventLines, useNewestEvents } from "../events/EventLines.tsx"
import { useSession } from "../session/Session.tsx"
import { Figure } from "../ui/Facts.tsx"
import { ListSection } from "../ui/ListSection.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { AnswerBadge, EndpointBadge, StatusBadge } from "../ui/StatusBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { Url } from "../ui/Url.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { HoursChart } from "./HoursChart.tsx"

const SHOWN = 6

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

const FailureLine = ({ delivery }: { readonly delivery: Delivery }) => (
  <li className="line linked">
    <span className="line-state">
      <StatusBadge status={delivery.status} />
    </span>
    <span className="grow two-lines">
      <Link className="row-link" href={`/deliveries/${delivery.id}`}>
        {delivery.event_type}
      </Link>
      <EndpointName className="cell-link" id={delivery.endpoint_id} isOneLine />
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
    <ListSection href="/deliveries?status=Failed" id="failures" more="All failed" title="Newest failures">
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
    </ListSection>
  )
}

const NewestEvents = () => (
  <ListSection href="/events" id="events" more="All events" title="Newest events">
    <EventLines empty="No events yet." query={useNewestEvents()} />
  </ListSection>
)

const Attention = ({ endpoints }: { readonly endpoints: ReadonlyArray<Endpoint> }) => {
  const healthOf = useHealth()
  const troubled = endpoints.filter((endpoint) => healthOf(endpoint) !== "enabled")
  if (troubled.length === 0) return null
  return (
    <ListSection href="/endpoints" id="attention" more="All endpoints" title="Endpoints that need attention">
      <ul className="lines">
        {troubled.map((endpoint) => (
          <li className="line linked" key={endpoint.id}>
            <span className="line-state">
              <EndpointBadge health={healthOf(endpoint)} />
            </span>
            <Link className="row-link grow" href={`/endpoints/${endpoint.id}`}>
              <Url url={endpoint.url} />
            </Link>
            <Time at={endpoint.disabled_at ?? endpoint.failing_since ?? endpoint.updated_at} />
          </li>
        ))}
      </ul>
    </ListSection>
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
