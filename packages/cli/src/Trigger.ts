/**
 * `billwright trigger`: publishes an event. Without --data, it publishes the example of its type.
 */
import { Console, Data, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Answers from "./Answers.ts"
import { ApiClient, url } from "./ApiClient.ts"
import * as DeliveryWait from "./DeliveryWait.ts"
import * as NearMatches from "./NearMatches.ts"
import { Misconfigured } from "./Store.ts"
import { json } from "./TenantFlags.ts"

/** The server knows no such event type. */
export class UnknownEventType extends Data.TaggedError("UnknownEventType")<{ readonly message: string }> {}

const type = Argument.String("type").pipe(
  Argument.withDescription("The event type, such as invoice.paid. Without it, the command lists the types."),
  Argument.optional,
)

const data = Flag.String("data").pipe(
  Flag.withDescription("The event's data as JSON. Default: the example of its type."),
  Flag.optional,
)

const customer = Flag.String("customer").pipe(
  Flag.withDescription("The id of the customer that the event is about: cus_…"),
  Flag.optional,
)

const idempotencyKey = Flag.String("idempotency-key").pipe(
  Flag.withDescription("Publish the event only once, even when the command is run again."),
  Flag.optional,
)

const catalogue = Effect.flatMap(ApiClient, (api) => api.get("/event_types", Answers.EventTypeList))

const list = Effect.fnUntraced(function* (asJson: boolean) {
  const { text, value } = yield* catalogue
  if (asJson) return yield* Console.log(text)
  const width = Math.max(...value.data.map((known) => known.type.length))
  return yield* Console.log(
    value.data.map((known) => `${known.type.padEnd(width)}  ${known.description}`).join("\n"),
  )
})

const unknown = (name: string, names: ReadonlyArray<string>): UnknownEventType => {
  const near = NearMatches.find(name, names)
  const hint = near.length === 0 ? "" : `: did you mean ${near.join(" or ")}?`
  return new UnknownEventType({
    message: `there is no event type ${JSON.stringify(name)}${hint}${hint === "" ? ":" : ""} "billwright trigger" lists the types`,
  })
}

const exampleOf = Effect.fnUntraced(function* (name: string) {
  const { value } = yield* catalogue
  const known = value.data.find((each) => each.type === name)
  if (known === undefined)
    return yield* unknown(
      name,
      value.data.map((each) => each.type),
    )
  return JSON.stringify(known.example)
})

/** Returns the JSON text unchanged. Numbers beyond 2^53 would lose digits if it were parsed and printed again. */
const checked = (text: string): Effect.Effect<string, Misconfigured> =>
  Effect.try({
    try: () => {
      JSON.parse(text)
      return text
    },
    catch: () => new Misconfigured({ message: "--data must be JSON" }),
  })

interface Publication {
  readonly data: Option.Option<string>
  readonly customer: Option.Option<string>
  readonly idempotencyKey: Option.Option<string>
}

const field = (name: string, value: Option.Option<string>): ReadonlyArray<string> =>
  Option.isSome(value) ? [`${JSON.stringify(name)}:${JSON.stringify(value.value)}`] : []

const publish = Effect.fnUntraced(function* (name: string, options: Publication) {
  const api = yield* ApiClient
  // Looked up even with --data: for an unknown type it fails with a suggestion, which the server doesn't give.
  const example = yield* exampleOf(name)
  const content = Option.isSome(options.data) ? yield* checked(options.data.value) : example
  const fields = [
    ...field("type", Option.some(name)),
    ...field("customer_id", options.customer),
    ...field("idempotency_key", options.idempotencyKey),
    `"data":${content}`,
  ]
  const { value } = yield* api.post("/events", Answers.PublishedEvent, `{${fields.join(",")}}`)
  return value.id
})

/** `billwright listen` is not an endpoint, so the server can't say whether somebody got the event that way. */
const NO_ENDPOINT = 'No endpoint subscribes to its type. A running "billwright listen" gets the event anyway.'

/**
 * Deliveries that will be tried again are looked up one by one, because lists don't say whether an attempt is under
 * way.
 */
const describe = Effect.fnUntraced(function* ({ deliveries, id, type: name }: Answers.EventWithDeliveries) {
  const retried = deliveries.filter(({ attempt_count, status }) => status === "Pending" && attempt_count > 0)
  const found = new Map((yield* DeliveryWait.look(retried)).map(({ value }) => [value.id, value]))
  const lines = deliveries.map((delivery) => Answers.line(found.get(delivery.id) ?? delivery))
  return [`${id}  ${name}`, ...(lines.length === 0 ? [NO_ENDPOINT] : lines)].join("\n")
})

const run = Effect.fnUntraced(function* (
  name: string,
  options: Publication & DeliveryWait.WaitOptions & { readonly json: boolean },
) {
  const id = yield* publish(name, options)
  const { text, value } = yield* DeliveryWait.ofEvent(id, options).pipe(
    // When waiting fails, the id is still printed, so that people can look for the event.
    Effect.tapError(() => (options.json ? Effect.void : Console.log(`${id}  ${name}`))),
  )
  yield* Console.log(options.json ? text : yield* describe(value))
  yield* DeliveryWait.requireDelivered(value.deliveries, options)
})

export const trigger = Command.make(
  "trigger",
  { type, data, customer, idempotencyKey, ...DeliveryWait.flags, url, json },
  Effect.fn(function* (options) {
    yield* Option.isNone(options.type) ? list(options.json) : run(options.type.value, options)
  }),
).pipe(
  Command.withDescription("Publish an event, with the example of its type as data"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    { command: "billwright trigger invoice.paid --wait", description: "Send an example and see it arrive" },
    { command: "billwright trigger", description: "List the event types" },
  ]),
)
