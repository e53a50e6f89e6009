/**
 * The use cases of deliveries: read them, see why they failed, send them again.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  type Delivery,
  DELIVERY_ID_PREFIX,
  DeliveryId,
  DeliveryNotFound,
  type DeliveryWithAttempts,
  ListDeliveries,
} from "./Delivery.ts"
import { DeliveryStore } from "./DeliveryStore.ts"
import { EndpointIsDisabled, EndpointNotFound } from "./Endpoint.ts"
import { EndpointStore } from "./EndpointStore.ts"
import * as WebhookStatistics from "./WebhookStatistics.ts"

const decodeList = decoder(ListDeliveries)
const decodeAsk = decoder(WebhookStatistics.AskStatistics)
const isDeliveryId = Schema.is(DeliveryId)

/** Reads and replays the deliveries of the current tenant. */
export class Deliveries extends Context.Service<
  Deliveries,
  {
    /** A delivery with its attempts, oldest first. */
    readonly get: (
      id: string,
    ) => Effect.Effect<DeliveryWithAttempts, DeliveryNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListDeliveries,
    ) => Effect.Effect<Page<Delivery>, InvalidInput | StorageError, CurrentTenant>

    /**
     * Sends the same event to the same endpoint again, as a new delivery whose schedule starts now. The old delivery
     * does not change.
     */
    readonly replay: (
      id: string,
    ) => Effect.Effect<
      Delivery,
      DeliveryNotFound | EndpointNotFound | EndpointIsDisabled | StorageError,
      CurrentTenant
    >

    /** Counts of deliveries and failed attempts in the last hours: in total and by endpoint. */
    readonly statistics: (
      ask?: WebhookStatistics.AskStatistics,
    ) => Effect.Effect<WebhookStatistics.WebhookStatistics, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/webhooks/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const store = yield* DeliveryStore
      const endpoints = yield* EndpointStore
      const ids = yield* IdGenerator

      const get = Effect.fn("Deliveries.get")(function* (id: string) {
        const found = isDeliveryId(id) ? yield* store.find(id) : Option.none()
        return yield* Option.match(found, {
          onNone: () => Effect.fail(new DeliveryNotFound({ id })),
          onSome: Effect.succeed,
        })
      })

      const list = Effect.fn("Deliveries.list")(function* (query: ListDeliveries = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        const filter = {
          status: request.status,
          endpointId: request.endpointId,
          eventId: request.eventId,
        }
        return yield* store.list(filter, page).pipe(nameCursor(request))
      })

      const replay = Effect.fn("Deliveries.replay")(function* (id: string) {
        const { delivery } = yield* get(id)
        const endpoint = Option.getOrUndefined(yield* endpoints.find(delivery.endpointId))
        if (endpoint === undefined) return yield* new EndpointNotFound({ id: delivery.endpointId })
        if (endpoint.status === "disabled") return yield* new EndpointIsDisabled({ id: endpoint.id })
        const [made] = yield* store.insert({
          eventId: delivery.eventId,
          endpointIds: [endpoint.id],
          firstDeliveryId: DeliveryId.make(yield* ids.next(DELIVERY_ID_PREFIX), { disableChecks: true }),
          now: yield* DateTime.now,
        })
        // Its event was removed meanwhile, with all of its deliveries.
        return made ?? (yield* new DeliveryNotFound({ id }))
      })

      const statistics = Effect.fn("Deliveries.statistics")(function* (
        ask: WebhookStatistics.AskStatistics = {},
      ) {
        const { hours = WebhookStatistics.DEFAULT_STATISTICS_HOURS } = yield* decodeAsk(ask)
        const now = yield* DateTime.now
        const since = DateTime.makeUnsafe(WebhookStatistics.firstHour(now.epochMilliseconds, hours))
        return WebhookStatistics.make(yield* store.counts(since), now, hours)
      })

      return Deliveries.of({ get, list, replay, statistics })
    }),
  )
}
