/**
 * The operations of events and webhooks (see `Operations`).
 */
import { Deliveries, Endpoints, Events } from "@billwright/core"
import { Effect } from "effect"
import { created, ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"
import * as RenderWebhooks from "./RenderWebhooks.ts"

/** All of them except `streamEvents`, which answers with a stream (see `EventStream`). */
export const make: Effect.Effect<
  OperationsOf<"event_types" | "events" | "deliveries" | "webhook_endpoints", "streamEvents">,
  never,
  Deliveries | Endpoints | Events
> = Effect.gen(function* () {
  const events = yield* Events
  const deliveries = yield* Deliveries
  const endpoints = yield* Endpoints
  // Made when somebody first asks: a server that starts has no time for it.
  const eventTypes = yield* Effect.cached(Effect.sync(() => RenderWebhooks.eventTypes(events.types)))

  return {
    listEventTypes: () => Effect.map(eventTypes, ok),

    publishEvent: ({ payload }, tenant) =>
      Effect.map(events.publish(payload), ({ _tag, event }) =>
        (_tag === "Published" ? created : ok)(RenderWebhooks.event(event, tenant)),
      ),
    listEvents: ({ query }, tenant) =>
      Effect.map(events.list(query), (page) => ok(Render.list(page, tenant, RenderWebhooks.listedEvent))),
    getEvent: ({ params }, tenant) =>
      Effect.map(events.getWithDeliveries(params.id), (found) =>
        ok(RenderWebhooks.eventWithDeliveries(found, tenant)),
      ),
    replayEvent: ({ params, payload }, tenant) =>
      Effect.map(events.replay(params.id, payload), (made) => ok(RenderWebhooks.replayed(made, tenant))),

    listDeliveries: ({ query }, tenant) =>
      Effect.map(deliveries.list(query), (page) => ok(Render.list(page, tenant, RenderWebhooks.delivery))),
    getDelivery: ({ params }, tenant) =>
      Effect.map(deliveries.get(params.id), (found) =>
        ok(RenderWebhooks.deliveryWithAttempts(found, tenant)),
      ),
    getWebhookStatistics: ({ query }, tenant) =>
      Effect.map(deliveries.statistics(query), (value) => ok(RenderWebhooks.statistics(value, tenant))),
    replayDelivery: ({ params }, tenant) =>
      Effect.map(deliveries.replay(params.id), (made) => created(RenderWebhooks.delivery(made, tenant))),

    createWebhookEndpoint: ({ payload }, tenant) =>
      Effect.map(endpoints.create(payload), (made) =>
        created(RenderWebhooks.endpointWithSecret(made, tenant)),
      ),
    listWebhookEndpoints: ({ query }, tenant) =>
      Effect.map(endpoints.list(query), (page) => ok(Render.list(page, tenant, RenderWebhooks.endpoint))),
    getWebhookEndpoint: ({ params }, tenant) =>
      Effect.map(endpoints.get(params.id), (value) => ok(RenderWebhooks.endpoint(value, tenant))),
    updateWebhookEndpoint: ({ params, payload }, tenant) =>
      Effect.map(endpoints.update(params.id, payload), (value) => ok(RenderWebhooks.endpoint(value, tenant))),
    deleteWebhookEndpoint: ({ params }) =>
      Effect.as(endpoints.delete(params.id), ok(RenderWebhooks.deletedEndpoint(params.id))),
    rotateWebhookSecret: ({ params, payload }, tenant) =>
      Effect.map(endpoints.rotateSecret(params.id, payload), (rotated) =>
        ok(RenderWebhooks.endpointWithSecret(rotated, tenant)),
      ),
    testWebhookEndpoint: ({ params, payload }, tenant) =>
      Effect.map(endpoints.test(params.id, payload.type), (event) =>
        created(RenderWebhooks.event(event, tenant)),
      ),
    replayWebhookEvents: ({ params, payload }) =>
      Effect.map(endpoints.replayRange(params.id, payload), (count) =>
        ok(RenderWebhooks.rangeReplay(params.id, count, payload.dryRun ?? false)),
      ),
  }
})
