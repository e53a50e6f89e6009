/**
 * The sender of webhooks, loaded when the first one is sent: many processes never send any, and it is a third of what
 * there is to load.
 */
import { type InvalidInput, WebhookTransport } from "@billwright/core"
import { Context, Effect, Layer, type Scope } from "effect"
import type { BillingOptions, DispatcherOptions } from "../BillingOptions.ts"

type Options = Pick<DispatcherOptions, "certificateAuthorities"> & Pick<BillingOptions, "network">

const load = Effect.fnUntraced(function* (options: Options, scope: Scope.Scope) {
  const { UndiciTransport } = yield* Effect.promise(() => import("@billwright/node"))
  const { certificateAuthorities, network } = options
  const context = yield* Layer.buildWithScope(
    UndiciTransport.layer({
      ...(certificateAuthorities === undefined ? {} : { certificateAuthorities }),
      ...(network === undefined ? {} : { network }),
    }),
    scope,
  )
  return Context.get(context, WebhookTransport)
})

/** Certificates are checked at once, for which it is loaded at once. */
export const layer = (options: Options): Layer.Layer<WebhookTransport, InvalidInput> =>
  Layer.effect(
    WebhookTransport,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const transport = yield* Effect.cached(load(options, scope))
      if (options.certificateAuthorities !== undefined) yield* transport
      return WebhookTransport.of({
        send: (request) => Effect.flatMap(Effect.orDie(transport), ({ send }) => send(request)),
      })
    }),
  )
