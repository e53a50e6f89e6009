/**
 * `billwright replay`: sends again what was sent before.
 */
import { Console, DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Answers from "./Answers.ts"
import { ApiClient, url } from "./ApiClient.ts"
import * as DeliveryWait from "./DeliveryWait.ts"
import { Misconfigured } from "./Store.ts"
import { json } from "./TenantFlags.ts"

const flags = { ...DeliveryWait.flags, url, json }

const id = (what: string) => Argument.String("id").pipe(Argument.withDescription(`The id of the ${what}.`))

interface ReplayOptions extends DeliveryWait.WaitOptions {
  readonly json: boolean
}

const report = Effect.fnUntraced(function* (
  made: ReadonlyArray<Answers.Delivery>,
  text: string,
  options: ReplayOptions,
) {
  const deliveries = yield* DeliveryWait.ofDeliveries(made, options)
  if (options.json) yield* Console.log(options.wait ? JSON.stringify(deliveries) : text)
  else if (deliveries.length === 0) yield* Console.log("No endpoint that is enabled wants it.")
  else yield* Console.log(deliveries.map(Answers.line).join("\n"))
  yield* DeliveryWait.requireDelivered(deliveries, options)
})

const endpointFlag = Flag.String("endpoint").pipe(
  Flag.withDescription("Only to this endpoint, whe_… Default: all that are enabled and want its type."),
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
    yield* report(value.data, text, options)
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
    yield* report([value], text, options)
  }),
).pipe(
  Command.withDescription("Send the event of a delivery to the same endpoint again"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const AGO = /^(\d{1,6})(m|h|d)$/
const UNIT_MILLIS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** An instant, or how long ago it was. What is neither is the server's to refuse. */
const instantOf = (text: string, now: DateTime.Utc): string => {
  const [, amount, unit] = AGO.exec(text) ?? []
  if (amount === undefined || unit === undefined) return text
  const millis = Number(amount) * UNIT_MILLIS[unit as keyof typeof UNIT_MILLIS]
  return DateTime.formatIso(DateTime.subtract(now, { milliseconds: millis }))
}

const INSTANT = "an instant such as 2026-11-21T09:30:00Z, or how long ago it was: 90m, 2h, 3d"

const endpoint = Command.make(
  "endpoint",
  {
    id: id("endpoint, whe_…"),
    since: Flag.String("since").pipe(Flag.withDescription(`Events published from then on: ${INSTANT}.`)),
    until: Flag.String("until").pipe(
      Flag.withDescription(`Events published before: ${INSTANT}. Default: now.`),
      Flag.optional,
    ),
    status: Flag.Literals("status", ["Failed", "all"]).pipe(
      Flag.withDescription(
        "Failed: events whose newest delivery to the endpoint failed. all: all that it wants.",
      ),
      Flag.withDefault("Failed"),
    ),
    types: Flag.String("types").pipe(
      Flag.withDescription("Only these event types, with commas between them."),
      Flag.optional,
    ),
    ...flags,
    ...DeliveryWait.flagsOfRange,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const now = yield* DateTime.now
    const types = Option.map(options.types, (text) => text.split(",").map((each) => each.trim()))
    if (Option.isSome(types) && types.value.includes("")) {
      return yield* new Misconfigured({ message: "--types must be names with commas between them" })
    }
    const body = {
      since: instantOf(options.since, now),
      status: options.status,
      ...(Option.isSome(options.until) ? { until: instantOf(options.until.value, now) } : {}),
      ...(Option.isSome(types) ? { types: types.value } : {}),
    }
    const path = `/webhook_endpoints/${encodeURIComponent(options.id)}/replay`
    const { text, value } = yield* api.post(path, Answers.RangeReplay, JSON.stringify(body))
    yield* Console.log(options.json ? text : countLine(value.count))
    yield* DeliveryWait.ofEndpoint(options.id, options)
  }),
).pipe(
  Command.withDescription("Send an endpoint again what it missed"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const countLine = (count: number): string =>
  count === 1 ? "1 event is sent again." : `${count} events are sent again.`

export const replay = Command.make("replay").pipe(
  Command.withDescription("Send events again: one, that of a delivery, or all that an endpoint missed"),
  Command.withSubcommands([event, delivery, endpoint]),
)
