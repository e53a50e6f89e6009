/**
 * Scripted receivers of webhooks without a network, and a dispatcher that a test runs.
 */
import { Dispatcher, type WebhookRequest, type WebhookResponse, WebhookTransport } from "@billwright/core"
import { Context, Effect, Layer } from "effect"
import type { Api } from "./ApiServer.ts"

interface Receivers {
  /** The requests that they got. */
  readonly requests: ReadonlyArray<WebhookRequest>
  /** Sets their answer from now on. */
  answer: WebhookResponse
  /** Makes all due attempts. Returns the number of deliveries. */
  readonly deliver: Effect.Effect<number>
}

const noContent: WebhookResponse = { _tag: "Answered", status: 204, headers: {}, body: "" }

export const make = Effect.fnUntraced(function* (api: Api) {
  const requests: Array<WebhookRequest> = []
  const transport = Layer.succeed(WebhookTransport, {
    send: (request) =>
      Effect.sync(() => {
        requests.push(request)
        return receivers.answer
      }),
  })
  const context = yield* Layer.build(Dispatcher.layerManual().pipe(Layer.provide(transport))).pipe(
    Effect.provideContext(api.services),
  )
  const receivers: Receivers = {
    requests,
    answer: noContent,
    deliver: Effect.orDie(Context.get(context, Dispatcher).runDue),
  }
  return receivers
})
