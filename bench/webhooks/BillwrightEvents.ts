/**
 * The events of the webhook benchmarks, as the library publishes them.
 */
import { CurrentTenant, Events, EventType, Tenant } from "@billwright/core"
import { Effect, Schema } from "effect"
import { dataOf, TYPES, typeOf } from "./Scenario.ts"

export const tenant = { accountId: Tenant.defaultAccountId, mode: "test" } as const

export const types = Array.from({ length: TYPES }, (_, index) =>
  EventType.make({
    name: typeOf(index),
    description: "An event of a benchmark.",
    data: Schema.Record(Schema.String, Schema.Unknown),
    example: dataOf(index),
  }),
)

/** Publishes an event, and gives its id. */
export const publish = (index: number) =>
  Effect.provideService(
    Effect.flatMap(Events, (events) =>
      Effect.map(events.publish({ type: typeOf(index), data: dataOf(index) }), ({ event }) => event.id),
    ),
    CurrentTenant,
    tenant,
  )
