import { useState } from "react"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { EventWithDeliveries } from "../api/Types.ts"
import { CustomerName } from "../customers/CustomerName.tsx"
import { DeliveryCard } from "../deliveries/DeliveryCard.tsx"
import { EndpointName } from "../deliveries/EndpointName.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Identifier } from "../ui/Identifier.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { payloadOf } from "./Payload.ts"
import { PayloadSection } from "./PayloadSection.tsx"
import { ReplayDialog } from "./ReplayDialog.tsx"

const Facts = ({ event }: { readonly event: EventWithDeliveries }) => (
  <dl className="facts">
    <div>
      <dt>Event</dt>
      <dd>
        <Identifier id={event.id} />
      </dd>
    </div>
    <div>
      <dt>Published</dt>
      <dd>
        <Time at={event.timestamp} isWhole />
      </dd>
    </div>
    <div>
      <dt>Customer</dt>
      <dd>
        {event.customer_id === null ? (
          <span className="muted">none</span>
        ) : (
          <CustomerName id={event.customer_id} />
        )}
      </dd>
    </div>
    {event.endpoint_id !== null && (
      <div>
        <dt>Test event for</dt>
        <dd>
          <EndpointName id={event.endpoint_id} />
        </dd>
      </div>
    )}
    {event.idempotency_key !== null && (
      <div>
        <dt>Idempotency key</dt>
        <dd>
          <code>{event.idempotency_key}</code>
        </dd>
      </div>
    )}
  </dl>
)

const Deliveries = ({ event }: { readonly event: EventWithDeliveries }) => (
  <section aria-labelledby="deliveries-title" className="section">
    <header className="section-header">
      <h2 id="deliveries-title">Deliveries</h2>
      <Link href={`/deliveries?event=${event.id}`}>As a list</Link>
    </header>
    {event.deliveries.length === 0 && (
      <EmptyState title="Sent nowhere">
        <p>
          No enabled endpoint subscribed to this type when the event was published. Create an{" "}
          <Link href="/endpoints">endpoint</Link>, then replay the event to it.
        </p>
      </EmptyState>
    )}
    {event.deliveries.map((delivery, index) => (
      <DeliveryCard
        delivery={delivery}
        isOpenAtFirst={index === 0}
        key={delivery.id}
        payload={payloadOf(event)}
      />
    ))}
  </section>
)

export const EventPage = ({ id }: { readonly id: string }) => {
  const query = Queries.useEvent(id)
  const [isReplaying, setIsReplaying] = useState(false)
  const event = query.data
  return (
    <Page
      actions={
        event !== undefined && (
          <ActionButton
            className="button primary"
            does="post /v1/events/{id}/replay"
            onClick={() => setIsReplaying(true)}
          >
            <Icon name="replay" /> Replay…
          </ActionButton>
        )
      }
      title={event?.type ?? "Event"}
      up={{ href: "/events", label: "Events", id }}
    >
      <Loaded lines={10} query={query}>
        {(loaded) => (
          <>
            <Facts event={loaded} />
            <div className="columns">
              <Deliveries event={loaded} />
              <PayloadSection event={loaded} />
            </div>
          </>
        )}
      </Loaded>
      {event !== undefined && isReplaying && (
        <ReplayDialog event={event} onClose={() => setIsReplaying(false)} />
      )}
    </Page>
  )
}
