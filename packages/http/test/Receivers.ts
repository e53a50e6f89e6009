/**
 * Receivers of webhooks that are not there, and a dispatcher that sends to them when it is told to.
 */
import { Dispatcher, type WebhookRequest, type WebhookResponse, WebhookTransport } from "@billwright/core"
import { Context, Effect, Layer } from "effect"
import type { Api } from "./ApiServer.ts"

interface Receivers {
  /** What they got. */
  readonly requests: ReadonlyArray<WebhookRequest>
  /** What they answer from now on. */
  answer: WebhookResponse
  /** Makes all attempts that are due; gives how many deliveries were taken. */
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
