/**
 * `billwright listen`: forwards events to a local address as they are published, so that you can try out a receiver
 * that webhooks can't reach.
 */
import { Signature } from "@billwright/core"
import { Config, Console, Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiClient, url } from "./ApiClient.ts"
import * as EventStream from "./EventStream.ts"
import * as Forwarder from "./Forwarder.ts"
import { explainConfig, Misconfigured } from "./Store.ts"
import { json } from "./TenantFlags.ts"

const SECRET_VARIABLE = "BILLWRIGHT_LISTEN_SECRET"
/** `whsec_` and the base64 of 24 to 64 bytes, as in the Standard Webhooks specification. */
const SECRET = /^whsec_(?=.{32,88}$)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** A port without a host, such as `3000/hooks` or `:3000`. */
const PORT_ALONE = /^:?(?=\d{1,5}(?:[/?]|$))/

/** Adds `http://` if there is no scheme, and `localhost` if there is only a port. */
const withScheme = (text: string): string =>
  text.includes("://") ? text : `http://${text.replace(PORT_ALONE, "localhost:")}`

const parseTarget = (text: string): Option.Option<URL> =>
  Option.filter(
    Option.fromNullOr(URL.parse(withScheme(text))),
    ({ password, protocol, username }) =>
      (protocol === "http:" || protocol === "https:") && username === "" && password === "",
  )

const forwardTo = Flag.String("forward-to").pipe(
  Flag.withDescription("Where to send events, such as localhost:3000 or http://localhost:3000/hooks."),
  Flag.filterMap(
    parseTarget,
    // The message doesn't quote the text, which may contain a password.
    () => "must be an address such as localhost:3000 or http://localhost:3000/hooks, without a password",
  ),
)

const types = Flag.String("types").pipe(
  Flag.withDescription("Only these event types, separated by commas. Default: all."),
  Flag.withSchema(Schema.String.check(Schema.isPattern(/^[^,\s]+(,[^,\s]+)*$/))),
  Flag.optional,
)

/**
 * The secret of the environment variable, or else a new one for each run. It is never an argument, because every user
 * of the machine can read command lines.
 */
const secretOf = Effect.gen(function* () {
  const kept = yield* Effect.mapError(Config.option(Config.Redacted(SECRET_VARIABLE)), explainConfig)
  if (Option.isNone(kept) || Redacted.value(kept.value) === "") {
    return (yield* Signature.generate("hmac")).secret
  }
  if (SECRET.test(Redacted.value(kept.value))) return kept.value
  return yield* new Misconfigured({
    message: `${SECRET_VARIABLE} must be whsec_ and the base64 of 24 to 64 bytes`,
  })
})

const lineOf = (event: EventStream.StreamedEvent, forwarded: Forwarder.Forwarded): string =>
  `${event.id}  ${event.type}  ${forwarded.error ?? forwarded.status}  ${forwarded.durationMillis} ms`

const jsonOf = (event: EventStream.StreamedEvent, forwarded: Forwarder.Forwarded): string =>
  JSON.stringify({
    event_id: event.id,
    type: event.type,
    status: forwarded.status,
    duration_ms: forwarded.durationMillis,
    error: forwarded.error,
  })

const introduce = (secret: Redacted.Redacted<string>, target: URL, asJson: boolean) =>
  asJson
    ? Console.log(JSON.stringify({ secret: Redacted.value(secret), forward_to: target.href }))
    : Console.log(`Signing secret  ${Redacted.value(secret)}\nForwarding to ${target.href}`)

export const listen = Command.make(
  "listen",
  { forwardTo, types, url, json },
  Effect.fn(function* (options) {
    const secret = yield* secretOf
    const forward = yield* Forwarder.make(options.forwardTo, secret)
    const wanted = Option.match(options.types, { onNone: () => [], onSome: (text) => text.split(",") })
    let isFirst = true
    const onOpen = Effect.suspend(() => {
      const wasFirst = isFirst
      isFirst = false
      if (wasFirst) return introduce(secret, options.forwardTo, options.json)
      return Console.error("connected again")
    })
    yield* EventStream.follow(wanted, onOpen, (event) =>
      Effect.flatMap(forward(event), (forwarded) =>
        Console.log(options.json ? jsonOf(event, forwarded) : lineOf(event, forwarded)),
      ),
    )
  }),
).pipe(
  Command.withDescription("Forward events to a local address as they are published, signed"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright listen --forward-to localhost:3000/hooks",
      description: "Try out a receiver on your machine",
    },
  ]),
)
