/**
 * Receivers of webhooks that do what a test tells them, without a network.
 */
import type { WebhookEvent } from "../verify/WebhookEvent.ts"

/** What a receiver answers: a status, more than that, or that there is no answer. */
export type TestAnswer =
  | number
  | {
      /** 100 to 599. */
      readonly status: number
      /** By lower-case name: `{ "retry-after": "60" }`. */
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
    }

/** A request that a receiver got. `verify` of `billwright/verify` takes it, with `now: at`. */
export interface ReceivedWebhook {
  /** By the clock of the test. */
  readonly at: Date
  readonly headers: Readonly<Record<string, string>>
  /** As it was sent, for verifying. */
  readonly body: string
  /** What the body says. */
  readonly event: WebhookEvent
}

/** What a URL has received, and what it answers. */
export interface TestReceiver {
  readonly url: string
  /** What it got, oldest first. */
  readonly requests: ReadonlyArray<ReceivedWebhook>
  /** Answers the next requests with these, in turn, and with the last one from then on. At first it is 204. */
  answer(first: TestAnswer, ...rest: ReadonlyArray<TestAnswer>): void
}
