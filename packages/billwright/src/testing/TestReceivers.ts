/**
 * The receivers of a test. They replace the network.
 */
import { type WebhookRequest, type WebhookResponse, WebhookTransport } from "@billwright/core"
import { Effect, Layer } from "effect"
import type { WebhookEvent } from "../verify/WebhookEvent.ts"
import type { ReceivedWebhook, TestAnswer, TestReceiver } from "./TestReceiver.ts"

const respond = (answer: TestAnswer): WebhookResponse => {
  if (typeof answer === "number") return { _tag: "Answered", status: answer, headers: {}, body: "" }
  if ("error" in answer) return { _tag: "Failed", error: answer.error }
  const { body = "", headers = {}, status } = answer
  return { _tag: "Answered", status, headers, body }
}

class Scripted implements TestReceiver {
  readonly url: string
  readonly requests: Array<ReceivedWebhook> = []
  #answers: ReadonlyArray<TestAnswer> = [204]
  #next = 0

  constructor(url: string) {
    this.url = url
  }

  answer(...answers: ReadonlyArray<TestAnswer>): void {
    this.#answers = answers
    this.#next = 0
  }

  receive({ body, headers, method }: WebhookRequest, at: Date): WebhookResponse {
    // The receivers of a test want webhooks of every sender.
    if (method === "OPTIONS") return respond({ status: 204, headers: { "webhook-allowed-origin": "*" } })
    this.requests.push({ at, headers, body, event: JSON.parse(body) as WebhookEvent })
    const answer = this.#answers[Math.min(this.#next++, this.#answers.length - 1)]
    return respond(answer ?? 204)
  }
}

/** The receivers of one billing, by URL. A receiver is made when it is first asked for or sent to. */
export class TestReceivers {
  readonly #byUrl = new Map<string, Scripted>()
  readonly layer: Layer.Layer<WebhookTransport>

  constructor(now: () => Date) {
    const send = (request: WebhookRequest) => Effect.sync(() => this.at(request.url).receive(request, now()))
    this.layer = Layer.succeed(WebhookTransport, { send })
  }

  at(url: string): Scripted {
    const receiver = this.#byUrl.get(url) ?? new Scripted(url)
    this.#byUrl.set(url, receiver)
    return receiver
  }
}
