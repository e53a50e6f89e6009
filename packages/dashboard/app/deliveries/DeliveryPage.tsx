import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { DeliveryWithAttempts, EventWithDeliveries } from "../api/Types.ts"
import { payloadOf } from "../events/Payload.ts"
import { PayloadSection } from "../events/PayloadSection.tsx"
import { Identifier } from "../ui/Identifier.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { StatusBadge } from "../ui/StatusBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { AttemptLog } from "./AttemptLog.tsx"
import { EndpointName } from "./EndpointName.tsx"
import { ReplayButton } from "./ReplayButton.tsx"
import { nextAttemptAt, outcomeOf } from "./Summary.ts"

const NextAttempt = ({ delivery }: { readonly delivery: DeliveryWithAttempts }) => {
  const at = nextAttemptAt(delivery)
  if (at === null) return null
  return (
    <div>
      <dt>Next attempt</dt>
      <dd>
        <Time at={at} isWhole />
      </dd>
    </div>
  )
}

const Facts = ({ delivery }: { readonly delivery: DeliveryWithAttempts }) => (
  <dl className="facts">
    <div>
      <dt>Delivery</dt>
      <dd>
        <Identifier id={delivery.id} />
      </dd>
    </div>
    <div>
      <dt>Event</dt>
      <dd>
        <Link href={`/events/${delivery.event_id}`}>
          <code>{delivery.event_id}</code>
        </Link>
      </dd>
    </div>
    <div>
      <dt>Endpoint</dt>
      <dd className="break">
        <EndpointName id={delivery.endpoint_id} />
      </dd>
    </div>
    <div>
      <dt>Made</dt>
      <dd>
        <Time at={delivery.created_at} isWhole />
      </dd>
    </div>
    <NextAttempt delivery={delivery} />
    {delivery.finished_at !== null && (
      <div>
        <dt>Finished</dt>
        <dd>
          <Time at={delivery.finished_at} isWhole />
        </dd>
      </div>
    )}
  </dl>
)

/** The state of the delivery. Screen readers read it when it changes. */
const Outcome = ({ delivery }: { readonly delivery: DeliveryWithAttempts }) => (
  <p className={`notice ${delivery.status === "Failed" ? "warning" : ""}`} role="status">
    {outcomeOf(delivery)}
  </p>
)

const Attempts = ({
  delivery,
  event,
}: {
  readonly delivery: DeliveryWithAttempts
  readonly event: EventWithDeliveries | undefined
}) => (
  <section aria-labelledby="attempts-title" className="section">
    <h2 id="attempts-title">Attempts</h2>
    <AttemptLog delivery={delivery} payload={event === undefined ? undefined : payloadOf(event)} />
  </section>
)

/** The answers, beside the payload. */
const Exchange = ({ delivery }: { readonly delivery: DeliveryWithAttempts }) => {
  const event = Queries.useEvent(delivery.event_id)
  return (
    <div className="columns">
      <Attempts delivery={delivery} event={event.data} />
      <Loaded lines={8} query={event}>
        {(loaded) => <PayloadSection event={loaded} />}
      </Loaded>
    </div>
  )
}

export const DeliveryPage = ({ id }: { readonly id: string }) => {
  const query = Queries.useDelivery(id)
  const delivery = query.data
  return (
    <Page
      actions={delivery !== undefined && <ReplayButton delivery={delivery} />}
      aside={delivery !== undefined && <StatusBadge status={delivery.status} />}
      title={delivery === undefined ? "Delivery" : `Delivery of ${delivery.event_type}`}
      up={{ href: "/deliveries", label: "Deliveries", id }}
    >
      <Loaded lines={10} query={query}>
        {(loaded) => (
          <>
            <Facts delivery={loaded} />
            <Outcome delivery={loaded} />
            <Exchange delivery={loaded} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
