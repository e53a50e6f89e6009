/**
 * Receivers of webhooks inside the test's process. The test decides what they answer.
 */
import type { WebhookEvent } from "../verify/WebhookEvent.ts"

/** The answer of a receiver: a status, a whole response, or an error instead of an answer. */
export type TestAnswer =
  | number
  | {
      /** 100 to 599. */
      readonly status: number
      /** Headers by lower-case name: `{ "retry-after": "60" }`. */
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  | {
      readonly error:
        | "dns_error"
        | "blocked_address"
        | "connection_refused"
        | "tls_error"
        | "timeout"
        | "reset"
        | "bad_response"
        | "proxy_error"
    }

/** A request that a receiver got. To verify it, pass it to `verify` of `billwright/verify`, with `now: at`. */
export interface ReceivedWebhook {
  /** When it arrived, by the clock of the test. */
  readonly at: Date
  readonly headers: Readonly<Record<string, string>>
  /** The body as it was sent, for verifying. */
  readonly body: string
  /** The event in the body. */
  readonly event: WebhookEvent
}

/** The receiver at a URL. */
export interface TestReceiver {
  readonly url: string
  /** The requests that it got, oldest first. */
  readonly requests: ReadonlyArray<ReceivedWebhook>
  /**
   * Sets the answers to the next requests, in this order. The last one is used for all later requests. At first, a
   * receiver answers 204.
   */
  answer(first: TestAnswer, ...rest: ReadonlyArray<TestAnswer>): void
}
