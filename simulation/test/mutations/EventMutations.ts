/**
 * Bugs in the outbox: events without deliveries, deliveries that no endpoint asked for, events of undone changes.
 */
import {
  CurrentTenant,
  Delivery,
  DeliveryStore,
  Endpoint,
  EndpointStore,
  EventStore,
  Transactor,
} from "@billwright/core"
import { Context, Effect, Option } from "effect"
import { change, mutation } from "./Mutation.ts"

export const outbox = [
  mutation(
    "one of several endpoints is left out",
    ["I5"],
    change(EventStore, ({ publish }, ports) => ({
      publish: (event) =>
        Effect.gen(function* () {
          const { data } = yield* Effect.orDie(
            Context.get(ports, EndpointStore).list({ status: "enabled" }, { limit: 100, cursor: undefined }),
          )
          const wanted = data.filter(({ eventTypes }) => Endpoint.matchesFilter(eventTypes, event.type))
          const endpointId = event.endpointId ?? (wanted.length > 1 ? wanted[0]!.id : null)
          return yield* publish({ ...event, endpointId })
        }),
    })),
  ),
  mutation(
    "the endpoint's filter is ignored",
    ["I2"],
    change(EventStore, ({ publish }, ports) => ({
      publish: (event) =>
        Effect.gen(function* () {
          const outcome = yield* publish(event)
          const { data } = yield* Effect.orDie(
            Context.get(ports, EndpointStore).list({ status: "enabled" }, { limit: 100, cursor: undefined }),
          )
          const { id, timestamp, type } = event
          const unwanted = data.filter(({ eventTypes }) => !Endpoint.matchesFilter(eventTypes, type))
          if (outcome._tag !== "Published" || event.endpointId !== null) return outcome
          yield* Context.get(ports, DeliveryStore).insert({
            eventId: id,
            endpointIds: unwanted.map((endpoint) => endpoint.id),
            firstDeliveryId: Delivery.deliveryId(Delivery.firstDeliveryId(id), 1_000),
            now: timestamp,
          })
          return outcome
        }),
    })),
  ),
  mutation(
    "a test event forgets which endpoint it was made for",
    ["I2"],
    change(EventStore, ({ find }) => ({
      find: (id) =>
        Effect.map(
          find(id),
          Option.map((event) => ({ ...event, endpointId: null })),
        ),
    })),
  ),
  mutation("an event of an undone transaction stays", ["I2", "I4"], (ports) => {
    const events = Context.get(ports, EventStore)
    const transactor = Context.get(ports, Transactor)
    let published: Array<Effect.Effect<unknown>> = []
    return ports.pipe(
      Context.add(EventStore, {
        ...events,
        publish: (event) =>
          Effect.tap(events.publish(event), () =>
            Effect.map(CurrentTenant, (tenant) => {
              const again = Effect.provideService(events.publish(event), CurrentTenant, tenant)
              published.push(Effect.exit(again))
            }),
          ),
      }),
      Context.add(Transactor, {
        ...transactor,
        atomically: (effect) =>
          Effect.onExit(
            transactor.atomically(
              Effect.andThen(
                Effect.sync(() => (published = [])),
                effect,
              ),
            ),
            (exit) => (exit._tag === "Failure" ? Effect.all(published) : Effect.void),
          ),
      }),
    )
  }),
  mutation(
    "transactions undo nothing",
    ["I1", "I3", "I4"],
    change(Transactor, () => ({ atomically: (effect) => effect })),
  ),
  mutation(
    "live and test mode share the idempotency keys of events",
    ["I1", "I5", "I11"],
    change(EventStore, ({ publish }) => {
      const known = new Map<string, Effect.Success<ReturnType<typeof publish>>>()
      return {
        publish: (event) =>
          Effect.gen(function* () {
            const { accountId } = yield* CurrentTenant
            const key = `${accountId} ${event.idempotencyKey}`
            const first = known.get(key)
            if (event.idempotencyKey !== null && first?._tag === "Published") {
              return { _tag: "Duplicate" as const, event: first.event }
            }
            const outcome = yield* publish(event)
            known.set(key, outcome)
            return outcome
          }),
      }
    }),
  ),
]
