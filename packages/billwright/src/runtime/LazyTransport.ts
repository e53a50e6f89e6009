/**
 * The webhook transport, loaded when the first webhook is sent. Many processes never send any, and the transport is
 * a third of all code to load.
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

/** With `certificateAuthorities` it is loaded at once, so that the certificates are checked at the start. */
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
