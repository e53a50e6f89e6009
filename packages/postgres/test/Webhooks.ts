/**
 * Endpoints, events and deliveries for tests.
 */
import {
  type Claim,
  type ClaimedDelivery,
  DeliveryStore,
  type Endpoint,
  EndpointStore,
  type Event,
  EventStore,
  MAX_CLAIM,
  type Settlement,
} from "@billwright/core"
import { Sample } from "@billwright/testing"
import { DateTime, Effect } from "effect"

/** An instant: this many minutes after `Sample.CREATED_AT`. */
export const minute = (minutes: number): DateTime.Utc => DateTime.add(Sample.CREATED_AT, { minutes })

export const newEndpoint = Effect.fnUntraced(function* (fields: Partial<Endpoint.Endpoint> = {}) {
  const stored = yield* Sample.endpoint(fields)
  yield* (yield* EndpointStore).insert(stored)
  return stored.endpoint
})

export const publish = Effect.fnUntraced(function* (fields: Sample.EventFields = {}) {
  const event: Event.Event = yield* Sample.event(fields)
  const outcome = yield* (yield* EventStore).publish(event)
  return { event, outcome }
})

/** Claims for 30 seconds. By default without limits. */
export const claim = (now: DateTime.Utc, options: Partial<Claim> = {}) =>
  Effect.flatMap(DeliveryStore, (store) =>
    store.claimDue({
      now,
      leaseUntil: DateTime.add(now, { seconds: 30 }),
      limit: MAX_CLAIM,
      limitPerEndpoint: MAX_CLAIM,
      limits: new Map(),
      tenantLimits: [],
      ...options,
    }),
  )

/** A claimed delivery that was delivered at its next attempt. */
export const delivered = ({ attemptCount, endpoint, id, tenant, token }: ClaimedDelivery): Settlement => ({
  tenant,
  id,
  endpointId: endpoint.id,
  token,
  at: minute(1),
  state: { status: "Delivered", attemptCount: attemptCount + 1 },
  attempt: Sample.attempt({ number: attemptCount + 1 }),
})

export const settle = (settlements: ReadonlyArray<Settlement>) =>
  Effect.flatMap(DeliveryStore, (store) => store.settle(settlements))
