/**
 * Publication from inside: what a domain tells, in the transaction that made it happen.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { IdGenerator } from "../shared/Id.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import * as Event from "./Event.ts"
import { EVENT_ID_PREFIX, EventId } from "./EventId.ts"
import { EventStore, type PublishOutcome } from "./EventStore.ts"
import type { EventType } from "./EventType.ts"

/** Whom and what an event is about. */
export interface PublishOptions extends Partial<
  Pick<Event.Event, "customerId" | "idempotencyKey" | "endpointId">
> {}

/**
 * The one way to publish from inside. The event has its id and instant from here, and joins the current transaction.
 *
 * `usage.threshold` alone is published elsewhere, by `UsageStore.append`, in one step with the record that fires it.
 */
export class Outbox extends Context.Service<
  Outbox,
  {
    /** `data` is as it is sent. `InvalidInput` of `data` when the payload would be too large. */
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
        publish: Effect.fnUntraced(function* (type, data, options = {}) {
          const { mode } = yield* CurrentTenant
          const event = Event.make(type, data, mode, {
            ...options,
            id: EventId.make(yield* ids.next(EVENT_ID_PREFIX), { disableChecks: true }),
            timestamp: yield* DateTime.now,
          })
          yield* checkSize(event.payload)
          return yield* store.publish(event)
        }),
      })
    }),
  )
}

const encoder = new TextEncoder()

const checkSize = (payload: string): Effect.Effect<void, InvalidInput> =>
  // A character takes 3 bytes at most: short texts need no counting.
  payload.length * 3 <= Event.MAX_PAYLOAD_BYTES || encoder.encode(payload).length <= Event.MAX_PAYLOAD_BYTES
    ? Effect.void
    : Effect.fail(
        new InvalidInput({
          field: "data",
          problem: `makes a payload of more than ${Event.MAX_PAYLOAD_BYTES} bytes`,
        }),
      )
