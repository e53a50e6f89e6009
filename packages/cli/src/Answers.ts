/**
 * The parts of the API's answers that the commands read.
 */
import { Schema } from "effect"

/** A delivery. */
export const Delivery = Schema.Struct({
  id: Schema.String,
  event_id: Schema.String,
  event_type: Schema.String,
  endpoint_id: Schema.String,
  status: Schema.Literals(["Pending", "Delivered", "Failed"]),
  reason: Schema.NullOr(Schema.String),
  attempt_count: Schema.Int,
  next_attempt_at: Schema.NullOr(Schema.String),
  last_response_status: Schema.NullOr(Schema.Int),
  last_error: Schema.NullOr(Schema.String),
})
export type Delivery = typeof Delivery.Type

/** A delivery in the answer of `GET /deliveries/{id}`. */
export const DeliveryWithAttempts = Schema.Struct({
  ...Delivery.fields,
  /** While an attempt is under way, this is set, and `next_attempt_at` is not the time of the next attempt. */
  attempt_started_at: Schema.NullOr(Schema.String),
})
export type DeliveryWithAttempts = typeof DeliveryWithAttempts.Type

export const DeliveryList = Schema.Struct({ data: Schema.Array(Delivery), has_more: Schema.Boolean })

export const EventWithDeliveries = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  deliveries: Schema.Array(Delivery),
})
export type EventWithDeliveries = typeof EventWithDeliveries.Type

export const PublishedEvent = Schema.Struct({ id: Schema.String })

export const EventTypeList = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ type: Schema.String, description: Schema.String, example: Schema.Unknown }),
  ),
})

export const RangeReplay = Schema.Struct({ endpoint_id: Schema.String, count: Schema.Int })

/**
 * When the next attempt is due. Empty for a delivery of a list: lists don't say whether an attempt is under way, so
 * `next_attempt_at` could be misleading.
 */
const nextAttempt = (delivery: Delivery | DeliveryWithAttempts): ReadonlyArray<string> => {
  const { next_attempt_at: plannedAt } = delivery
  if (!("attempt_started_at" in delivery) || delivery.attempt_count === 0 || plannedAt === null) return []
  const { attempt_started_at: startedAt } = delivery
  return [startedAt === null ? `next at ${plannedAt}` : `attempt under way since ${startedAt}`]
}

/** A delivery in one line. */
export const line = (delivery: Delivery | DeliveryWithAttempts): string => {
  const { attempt_count: attempts, last_error: error, last_response_status: status } = delivery
  return [
    delivery.id,
    delivery.endpoint_id,
    delivery.status.padEnd("Delivered".length),
    attempts === 1 ? "1 attempt" : `${attempts} attempts`,
    error ?? (status === null ? "no answer yet" : `answered ${status}`),
    ...nextAttempt(delivery),
    ...(delivery.reason === null ? [] : [delivery.reason]),
  ].join("  ")
}
