/**
 * Publishes the library's own events, in the transaction of the change that they are about.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { IdGenerator } from "../shared/Id.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import * as WallClock from "../shared/WallClock.ts"
import * as Event from "./Event.ts"
import { EVENT_ID_PREFIX, EventId } from "./EventId.ts"
import { EventStore, type PublishOutcome } from "./EventStore.ts"
import type { EventType } from "./EventType.ts"

/** Optional fields of an event. */
export interface PublishOptions extends Partial<
  Pick<Event.Event, "customerId" | "idempotencyKey" | "endpointId">
> {}

/**
 * Every event is published through the outbox, except `usage.threshold`: `UsageStore.append` publishes that one in the
 * same step as the usage record that fires it.
 *
 * The outbox gives the event its id and timestamp, by the clock of this machine. The event joins the current transaction.
 */
export class Outbox extends Context.Service<
  Outbox,
  {
    /**
     * `data` is JSON as it is sent. Fails with `InvalidInput` of `data` when the payload would be larger than
     * `MAX_PAYLOAD_BYTES`.
     */
    readonly publish: <Type extends Pick<EventType, "name" | "data">>(
      type: Type,
      data: Type["data"]["Encoded"],
      options?: PublishOptions,
    ) => Effect.Effect<PublishOutcome, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/events/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      const store = yield* EventStore
      const ids = yield* IdGenerator
      return Outbox.of({
        publish: (type, data, options = {}) =>
          Effect.flatMap(CurrentTenant, ({ mode }) =>
            Effect.flatMap(WallClock.millis, (now): ReturnType<Outbox["Service"]["publish"]> => {
              const event = Event.make(type, data, mode, {
                ...options,
                id: EventId.make(ids.at(EVENT_ID_PREFIX, now), { disableChecks: true }),
                timestamp: DateTime.makeUnsafe(now),
              })
              return Event.isWithinPayload(event.payload) ? store.publish(event) : tooLarge
            }),
          ),
      })
    }),
  )
}

const tooLarge = Effect.suspend(() =>
  Effect.fail(
    new InvalidInput({
      field: "data",
      problem: `makes a payload of more than ${Event.MAX_PAYLOAD_BYTES} bytes`,
    }),
  ),
)
