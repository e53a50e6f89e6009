/**
 * The contract of events for one endpoint (`Event.endpointId`): they are delivered or replayed to no other. For
 * replays of a single event, `Events` decides that; it uses the storage here.
 */
import { type Endpoint, EndpointStore, EventCatalogue, Events, EventStore } from "@billwright/core"
import { Effect, Layer, Option } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, pause, same } from "./ContractTest.ts"
import { endOfTail, follow, LOOKS } from "./EventTailContract.ts"
import { deliveriesOf, listDeliveries, listEvents, minute, newEndpoint, publish } from "./WebhookProbe.ts"

const endpointsOf = (deliveries: ReadonlyArray<{ readonly endpointId: Endpoint.EndpointId }>) =>
  deliveries.map(({ endpointId }) => endpointId)

const useEvents = Effect.provide(Layer.provide(Events.layer, EventCatalogue.layer))

/** Two endpoints: one whose filter does not accept the event that was made for it, and one for all types. */
const publishForOne = Effect.gen(function* () {
  const own = yield* newEndpoint({ eventTypes: ["payment.failed"] })
  const other = yield* newEndpoint()
  const event = yield* publish({ endpointId: own.id })
  return { event, other, own }
})

const replays = (test: ContractTest): void => {
  test(
    "replays such an event to its endpoint only, whatever the endpoints' filters are",
    Effect.gen(function* () {
      const events = yield* Events
      const { event, other, own } = yield* publishForOne
      same(endpointsOf(yield* events.replay(event.id)), [own.id])
      same(endpointsOf(yield* events.replay(event.id, { endpointId: own.id })), [own.id])
      same(endpointsOf(yield* deliveriesOf(event)), [own.id, own.id, own.id])
      same((yield* listDeliveries({ endpointId: other.id })).data, [])
    }).pipe(useEvents),
  )

  test(
    "refuses to replay it to another endpoint, and names the field",
    Effect.gen(function* () {
      const events = yield* Events
      const { event, other, own } = yield* publishForOne
      for (const endpointId of [other.id, yield* Sample.endpointId]) {
        const error = yield* Effect.flip(events.replay(event.id, { endpointId }))
        same(error.message, `endpointId must be ${own.id}, the endpoint that the event was made for`)
      }
      same(endpointsOf(yield* deliveriesOf(event)), [own.id])
    }).pipe(useEvents),
  )

  test(
    "replays it nowhere while its endpoint is disabled or after it is deleted",
    Effect.gen(function* () {
      const events = yield* Events
      const store = yield* EndpointStore
      const { event, own } = yield* publishForOne
      const refusal = Effect.map(Effect.flip(events.replay(event.id)), ({ _tag }) => _tag)
      yield* store.modify(own.id, ({ endpoint, secrets }) =>
        Effect.succeed({ endpoint: { ...endpoint, ...Sample.disabled }, secrets }),
      )
      same(yield* refusal, "EndpointIsDisabled")
      same(yield* store.delete(own.id, minute(1)), true)
      same(yield* refusal, "EndpointNotFound")
      same(endpointsOf(yield* deliveriesOf(event)), [own.id])
      same(yield* (yield* EventStore).find(event.id), Option.some(event))
    }).pipe(useEvents),
  )
}

export const testEventContract = (test: ContractTest): void => {
  test.section("events of one endpoint", () => {
    test(
      "returns the endpoint of such an event in every read",
      Effect.gen(function* () {
        const store = yield* EventStore
        const start = yield* endOfTail
        const { event } = yield* publishForOne
        same(yield* store.find(event.id), Option.some(event))
        same((yield* listEvents()).data, [event])
        same(yield* follow(start, 1), [event.id])
      }),
    )

    test(
      "leaves it out for readers of the tail, which continue after it",
      Effect.gen(function* () {
        const events = yield* Events
        const before = yield* publish()
        const { event } = yield* publishForOne
        const after = yield* publish()
        const followed = Effect.fnUntraced(function* (from: string) {
          let step = yield* events.tail(yield* events.tailPosition(from))
          for (let look = 0; look < LOOKS && step.events.length === 0; look++) {
            yield* pause
            step = yield* events.tail(step.position)
          }
          return [...step.events, ...(yield* events.tail(step.position)).events]
        })
        same(yield* followed(before.id), [after])
        same(yield* followed(event.id), [after])
      }).pipe(useEvents),
    )

    replays(test)
  })
}
