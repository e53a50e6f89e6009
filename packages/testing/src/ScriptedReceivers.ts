/**
 * Receivers of webhooks that follow a test's script, without a network: a `WebhookTransport` in memory.
 */
import { type WebhookRequest, type WebhookResponse, WebhookTransport } from "@billwright/core"
import { Clock, Context, Effect, Layer } from "effect"

/** A request that a receiver got. */
export interface ReceivedRequest extends WebhookRequest {
  /** When it arrived, in epoch milliseconds. */
  readonly at: number
}

/** The reaction of a receiver to a request. `index`: how many requests it got before this one. */
export type Script = (request: ReceivedRequest, index: number) => Effect.Effect<WebhookResponse>

/** Answers with a status, and optionally with headers and a body. */
export const answers =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ""): Script =>
  () =>
    Effect.succeed({ _tag: "Answered", status, headers, body })

/** Answers each request with the next script. After the last script, repeats that one. */
export const inTurn =
  (...scripts: readonly [Script, ...Array<Script>]): Script =>
  (request, index) =>
    scripts[Math.min(index, scripts.length - 1)]!(request, index)

/** Fails with a network error. */
export const fails =
  (error: Extract<WebhookResponse, { readonly _tag: "Failed" }>["error"]): Script =>
  () =>
    Effect.succeed({ _tag: "Failed", error })

/** Waits by the `Clock`, then answers. */
export const takes =
  (millis: number, script: Script): Script =>
  (request, index) =>
    Effect.andThen(Effect.sleep(millis), script(request, index))

/** Never answers, until it is interrupted. */
export const hangs: Script = () => Effect.never

/**
 * The receivers of a test, by URL. A URL without a script answers 204.
 *
 * `layer` provides this service and the `WebhookTransport` for a `Dispatcher`.
 */
export class ScriptedReceivers extends Context.Service<
  ScriptedReceivers,
  {
    /** Sets the script of the receiver at a URL from now on. */
    readonly script: (url: string, script: Script) => Effect.Effect<void>
    /** The requests that receivers got, oldest first: those to one URL, or all. */
    readonly requests: (url?: string) => Effect.Effect<ReadonlyArray<ReceivedRequest>>
  }
>()("@billwright/testing/ScriptedReceivers") {
  static readonly layer: Layer.Layer<ScriptedReceivers | WebhookTransport> = Layer.effectContext(
    Effect.sync(() => {
      const seen: Array<ReceivedRequest> = []
      const scripts = new Map<string, Script>()
      const counts = new Map<string, number>()

      const send = Effect.fnUntraced(function* (request: WebhookRequest) {
        const received: ReceivedRequest = { ...request, at: yield* Clock.currentTimeMillis }
        const index = counts.get(request.url) ?? 0
        counts.set(request.url, index + 1)
        seen.push(received)
        return yield* (scripts.get(request.url) ?? answers(204))(received, index)
      })

      return Context.make(WebhookTransport, WebhookTransport.of({ send })).pipe(
        Context.add(
          ScriptedReceivers,
          ScriptedReceivers.of({
            script: (url, script) =>
              Effect.sync(() => {
                scripts.set(url, script)
                counts.delete(url)
              }),
            requests: (url) =>
              Effect.sync(() => seen.filter((request) => url === undefined || request.url === url)),
          }),
        ),
      )
    }),
  )
}
