/**
 * `billwright replay`: sends events again.
 */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Answers from "./Answers.ts"
import { type Answer, ApiClient, url } from "./ApiClient.ts"
import * as DeliveryWait from "./DeliveryWait.ts"
import * as Moment from "./Moment.ts"
import { Misconfigured } from "./Store.ts"
import { json } from "./TenantFlags.ts"

const flags = { ...DeliveryWait.flags, url, json }

const id = (what: string) => Argument.String("id").pipe(Argument.withDescription(`The id of the ${what}.`))

interface ReplayOptions extends DeliveryWait.WaitOptions {
  readonly json: boolean
}

/** The answer of the API to a replay. */
interface Made {
  readonly deliveries: ReadonlyArray<Answers.Delivery>
  readonly text: string
  /** The same answer with the later state of the deliveries. */
  readonly withDeliveries: (later: ReadonlyArray<object>) => unknown
}

/** Removes the attempts of a delivery, because the API's answer to a replay doesn't have them. */
const withoutAttempts = ({ text }: Answer<unknown>): object => {
  const { attempts: _, ...rest } = JSON.parse(text) as Record<string, unknown>
  return rest
}

const report = Effect.fnUntraced(function* (made: Made, options: ReplayOptions) {
  const ended = options.wait ? yield* DeliveryWait.ofDeliveries(made.deliveries, options) : undefined
  const deliveries = ended?.map(({ value }) => value) ?? made.deliveries
  if (options.json) {
    yield* Console.log(
      ended === undefined ? made.text : JSON.stringify(made.withDeliveries(ended.map(withoutAttempts))),
    )
  } else if (deliveries.length === 0) yield* Console.log("No enabled endpoint subscribes to its type.")
  else yield* Console.log(deliveries.map(Answers.line).join("\n"))
  yield* DeliveryWait.requireDelivered(deliveries, options)
})

const endpointFlag = Flag.String("endpoint").pipe(
  Flag.withDescription(
    "Send it only to this endpoint, whe_… Default: all enabled endpoints that subscribe to its type.",
  ),
  Flag.optional,
)

const event = Command.make(
  "event",
  { id: id("event, evt_…"), endpoint: endpointFlag, ...flags },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const body = Option.match(options.endpoint, {
      onNone: () => ({}),
      onSome: (endpoint_id) => ({ endpoint_id }),
    })
    const path = `/events/${encodeURIComponent(options.id)}/replay`
    const { text, value } = yield* api.post(path, Answers.DeliveryList, JSON.stringify(body))
    const withDeliveries = (data: ReadonlyArray<object>) => ({ object: "list", data, has_more: false })
    yield* report({ deliveries: value.data, text, withDeliveries }, options)
  }),
).pipe(
  Command.withDescription("Send an event again, with its id and bytes"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const delivery = Command.make(
  "delivery",
  { id: id("delivery, dlv_…"), ...flags },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const path = `/deliveries/${encodeURIComponent(options.id)}/replay`
    const { text, value } = yield* api.post(path, Answers.Delivery, "{}")
    yield* report({ deliveries: [value], text, withDeliveries: ([later]) => later }, options)
  }),
).pipe(
  Command.withDescription("Send the event of a delivery to the same endpoint again"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const endpoint = Command.make(
  "endpoint",
  {
    id: id("endpoint, whe_…"),
    since: Flag.String("since").pipe(
      Flag.withDescription(`Events published at this time or later: ${Moment.FORMS}.`),
    ),
    until: Flag.String("until").pipe(
      Flag.withDescription(`Events published before this time: ${Moment.FORMS}. Default: now.`),
      Flag.optional,
    ),
    status: Flag.Literals("status", ["Failed", "all"]).pipe(
      Flag.withDescription(
        "Failed: events whose newest delivery to the endpoint failed. all: all events of the types that it subscribes to. Default: Failed.",
      ),
      Flag.withDefault("Failed"),
    ),
    types: Flag.String("types").pipe(
      Flag.withDescription("Only these event types, separated by commas. Default: all."),
      Flag.optional,
    ),
    ...flags,
    ...DeliveryWait.flagsOfRange,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const types = Option.map(options.types, (text) => text.split(",").map((each) => each.trim()))
    if (Option.isSome(types) && types.value.includes("")) {
      return yield* new Misconfigured({ message: "--types must be names separated by commas" })
    }
    const body = {
      since: yield* Moment.instantOf("since", options.since),
      status: options.status,
      ...(Option.isSome(options.until)
        ? { until: yield* Moment.instantOf("until", options.until.value) }
        : {}),
      ...(Option.isSome(types) ? { types: types.value } : {}),
    }
    const path = `/webhook_endpoints/${encodeURIComponent(options.id)}/replay`
    const { text, value } = yield* api.post(path, Answers.RangeReplay, JSON.stringify(body))
    yield* Console.log(options.json ? text : countLine(value.count))
    yield* DeliveryWait.ofEndpoint(options.id, options)
  }),
).pipe(
  Command.withDescription("Send past events to an endpoint again"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const countLine = (count: number): string =>
  count === 1 ? "1 event is sent again." : `${count} events are sent again.`

export const replay = Command.make("replay").pipe(
  Command.withDescription("Send events again: one, that of a delivery, or all that an endpoint missed"),
  Command.withSubcommands([event, delivery, endpoint]),
)
