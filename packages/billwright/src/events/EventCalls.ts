/**
 * The events of a `Calls`.
 */
import {
  Event as Core,
  Events as EventsService,
  ExactJson,
  type ListedEvent,
  type TailPosition,
} from "@billwright/core"
import { DateTime, Effect, Exit, Scope } from "effect"
import type { CallOptions } from "../Call.ts"
import { ClosedError } from "../errors/RuntimeError.ts"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import { toPlain } from "../runtime/PlainValue.ts"
import type { EventMap } from "./EventMap.ts"
import type { EventOf, Events, StreamEvents } from "./Events.ts"

/** How long a stream waits to be notified of new events before it looks for them itself. */
const POLL_MILLIS = 1_000

export const toEvent = (event: Core.Event): EventOf<string, unknown> => ({
  id: event.id,
  type: event.type,
  timestamp: DateTime.toDateUtc(event.timestamp),
  customerId: event.customerId,
  idempotencyKey: event.idempotencyKey,
  endpointId: event.endpointId,
  data: ExactJson.parse(Core.dataText(event.payload)),
})

const toListedEvent = (event: ListedEvent) => ({
  ...toEvent(event),
  deliveryCounts: event.deliveryCounts,
})

const toPublished = ({ _tag, event }: Core.Published) => ({
  event: toEvent(event),
  isDuplicate: _tag === "Duplicate",
})

/** Keeps a rejection of `promise` from being reported as unhandled when nobody awaits it. */
const unobserved = <A>(promise: Promise<A>): Promise<A> => {
  promise.catch(() => undefined)
  return promise
}

const follow = async function* (
  calls: Calls,
  start: Promise<TailPosition>,
  types: ReadonlyArray<string> | undefined,
  options: CallOptions | undefined,
): AsyncGenerator<EventOf<string, unknown>, undefined> {
  const events = calls.service(EventsService)
  let position = await start
  const scope = Scope.makeUnsafe()
  try {
    const committed = await calls.runAsIs(() => Scope.provide(events.committed, scope), options)
    for (;;) {
      const step = await calls.runAsIs(() => events.tail(position, types), options)
      position = step.position
      for (const event of step.events) yield toEvent(event)
      if (step.events.length > 0 || step.hasMore) continue
      await calls.runAsIs(() => Effect.timeoutOption(committed, POLL_MILLIS), options)
    }
  } catch (error) {
    // Billing was closed while the stream was running, so the stream ends. Had billing been closed before the
    // stream began, `start` would have rejected above.
    if (error instanceof ClosedError) return undefined
    throw error
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const makeStream =
  (calls: Calls): Events<EventMap>["stream"] =>
  (query: StreamEvents<string> = {}, options) => {
    const events = calls.service(EventsService)
    // Read the position now, so that events published before the loop begins are not missed.
    const start = unobserved(calls.runAsIs(() => events.tailPosition(query.after), options))
    return { [Symbol.asyncIterator]: () => follow(calls, start, query.types, options) }
  }

export const makeEvents = (calls: Calls): Events<EventMap> => {
  const events = calls.service(EventsService)
  return {
    types: (options) =>
      calls.runAsIs(
        () =>
          Effect.succeed(
            events.types.map(({ description, example, name }) => ({ name, description, example })),
          ),
        options,
      ),
    publish: (input, options) =>
      calls.runAsIs(() => Effect.map(events.publish(toInput(input)), toPublished), options),
    get: (id, options) =>
      calls.runAsIs(
        () =>
          Effect.map(events.getWithDeliveries(Ids.eventId(id)), ({ deliveries, event }) => ({
            ...toEvent(event),
            deliveries: toPlain(deliveries),
          })),
        options,
      ),
    list: (query, options) =>
      makeListing(query, (page) =>
        calls.runAsIs(
          () =>
            Effect.map(
              events.list(toOptionalInput(page, "createdAfter", "createdBefore")),
              ({ data, hasMore }) => ({ data: data.map(toListedEvent), hasMore }),
            ),
          options,
        ),
      ),
    replay: (id, to, options) =>
      calls.run(() => events.replay(Ids.eventId(id), toOptionalInput(to)), options),
    stream: makeStream(calls),
  } as Events<EventMap>
}
