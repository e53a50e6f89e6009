/**
 * Waits until deliveries are finished.
 */
import { Console, Data, Effect, Schema } from "effect"
import { Flag } from "effect/cli"
import * as Answers from "./Answers.ts"
import { ApiClient, type ApiFailure } from "./ApiClient.ts"

const POLL_MILLIS = 500
const MAX_TIMEOUT_SECONDS = 86_400
const DEFAULT_TIMEOUT_SECONDS = 60

export const flags = {
  wait: Flag.Boolean("wait").pipe(
    Flag.withDescription(
      "Wait until every delivery is Delivered or Failed. Exit code 1 unless all are delivered.",
    ),
    Flag.withDefault(false),
  ),
  timeoutSeconds: Flag.Int("timeout-seconds").pipe(
    Flag.withDescription(`With --wait: how long to wait, in seconds. Default: ${DEFAULT_TIMEOUT_SECONDS}.`),
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_TIMEOUT_SECONDS }))),
    Flag.withDefault(DEFAULT_TIMEOUT_SECONDS),
  ),
}

/** A range can have thousands of deliveries, so waiting for it doesn't report each one. The list of deliveries does. */
export const flagsOfRange = {
  ...flags,
  wait: Flag.Boolean("wait").pipe(
    Flag.withDescription(
      "Wait until the endpoint has no pending deliveries. Exit code 1 when the time runs out first. To see whether all arrived, list the deliveries.",
    ),
    Flag.withDefault(false),
  ),
}

export interface WaitOptions {
  readonly wait: boolean
  readonly timeoutSeconds: number
}

/** Some of the deliveries that the command waited for did not arrive. */
export class Undelivered extends Data.TaggedError("Undelivered")<{ readonly message: string }> {}

const count = (n: number): string => (n === 1 ? "1 delivery" : `${n} deliveries`)

/** Repeats the request until nothing is pending or the time runs out. Returns the last answer. */
const settled = <A, R>(
  look: Effect.Effect<A, ApiFailure, R>,
  pending: (found: A) => number,
  { timeoutSeconds }: WaitOptions,
): Effect.Effect<A, ApiFailure | Undelivered, R> =>
  Effect.gen(function* () {
    let left = 0
    const poll = Effect.gen(function* () {
      for (;;) {
        const found = yield* look
        left = pending(found)
        if (left === 0) return found
        yield* Effect.sleep(POLL_MILLIS)
      }
    })
    return yield* Effect.timeoutOrElse(poll, {
      duration: timeoutSeconds * 1_000,
      orElse: () =>
        Effect.fail(new Undelivered({ message: `${count(left)} still Pending after ${timeoutSeconds} s` })),
    })
  })

/** Returns an event with its deliveries. With --wait, the deliveries are finished. */
export const ofEvent = Effect.fnUntraced(function* (id: string, options: WaitOptions) {
  const api = yield* ApiClient
  const look = api.get(`/events/${encodeURIComponent(id)}`, Answers.EventWithDeliveries)
  if (!options.wait) return yield* look
  return yield* settled(
    look,
    ({ value }) => value.deliveries.filter(({ status }) => status === "Pending").length,
    options,
  )
})

/** Gets each delivery, with its attempts. */
export const look = Effect.fnUntraced(function* (deliveries: ReadonlyArray<Answers.Delivery>) {
  const api = yield* ApiClient
  return yield* Effect.forEach(
    deliveries,
    ({ id }) => api.get(`/deliveries/${encodeURIComponent(id)}`, Answers.DeliveryWithAttempts),
    { concurrency: 8 },
  )
})

/** Waits until the deliveries are finished, and returns them with their attempts. */
export const ofDeliveries = Effect.fnUntraced(function* (
  deliveries: ReadonlyArray<Answers.Delivery>,
  options: WaitOptions,
) {
  return yield* settled(
    look(deliveries),
    (found) => found.filter(({ value }) => value.status === "Pending").length,
    options,
  )
})

/** Waits until an endpoint has no pending deliveries. Prints the number of pending ones on standard error. */
export const ofEndpoint = Effect.fnUntraced(function* (id: string, options: WaitOptions) {
  const api = yield* ApiClient
  if (!options.wait) return
  let printed = ""
  const look = api
    .get("/deliveries", Answers.DeliveryList, { endpoint_id: id, status: "Pending", limit: "100" })
    .pipe(
      Effect.tap(({ value }) => {
        const line = `${value.data.length}${value.has_more ? " or more" : ""} pending`
        if (line === printed) return Effect.void
        printed = line
        return Console.error(line)
      }),
    )
  yield* settled(look, ({ value }) => value.data.length, options)
})

/** Fails when the command waited and some deliveries failed. */
export const requireDelivered = (
  deliveries: ReadonlyArray<Answers.Delivery>,
  { wait }: WaitOptions,
): Effect.Effect<void, Undelivered> => {
  const failed = deliveries.filter(({ status }) => status === "Failed").length
  return wait && failed > 0
    ? Effect.fail(new Undelivered({ message: `${count(failed)} of ${deliveries.length} failed` }))
    : Effect.void
}
