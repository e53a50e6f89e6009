/**
 * The webhook transport, loaded when the first webhook is sent. Many processes never send any, and the transport is
 * a third of all code to load.
 */
import { InvalidInput, WebhookTransport } from "@billwright/core"
import type { ClientCertificate } from "@billwright/node"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import type { BillingOptions, SendingOptions } from "../BillingOptions.ts"

type Options = SendingOptions & Pick<BillingOptions, "network">

const toClientCertificate = ({
  certificate,
  key,
  passphrase,
}: NonNullable<SendingOptions["clientCertificate"]>): ClientCertificate => ({
  certificate,
  key: Redacted.make(key),
  ...(passphrase === undefined ? {} : { passphrase: Redacted.make(passphrase) }),
})

const load = Effect.fnUntraced(function* (options: Options, name: string, scope: Scope.Scope) {
  const { UndiciTransport } = yield* Effect.promise(() => import("@billwright/node"))
  const { certificateAuthorities, clientCertificate, network, proxy } = options
  const context = yield* Layer.buildWithScope(
    UndiciTransport.layer({
      ...(certificateAuthorities === undefined ? {} : { certificateAuthorities }),
      ...(clientCertificate === undefined
        ? {}
        : { clientCertificate: toClientCertificate(clientCertificate) }),
      ...(network === undefined ? {} : { network }),
      ...(proxy === undefined ? {} : { proxy: Redacted.make(proxy) }),
    }),
    scope,
  ).pipe(Effect.mapError(({ field, problem }) => new InvalidInput({ field: `${name}.${field}`, problem })))
  return Context.get(context, WebhookTransport)
})

/**
 * With certificates or a `proxy` it is loaded at once, so that they are checked at the start. `name` is the option that has
 * them, for messages.
 */
export const layer = (options: Options, name: string): Layer.Layer<WebhookTransport, InvalidInput> =>
  Layer.effect(
    WebhookTransport,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const transport = yield* Effect.cached(load(options, name, scope))
      const { certificateAuthorities, clientCertificate, proxy } = options
      if ((certificateAuthorities ?? clientCertificate ?? proxy) !== undefined) yield* transport
      return WebhookTransport.of({
        send: (request) => Effect.flatMap(Effect.orDie(transport), ({ send }) => send(request)),
      })
    }),
  )
