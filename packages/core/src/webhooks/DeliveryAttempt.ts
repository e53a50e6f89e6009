/**
 * One attempt: it signs the event, sends it and evaluates the answer.
 */
import { Cause, Clock, DateTime, Effect } from "effect"
import type { Attempt, AttemptError } from "./Delivery.ts"
import type { DeliveryEvent } from "./DeliveryMachine.ts"
import type { ClaimedDelivery } from "./DeliveryStore.ts"
import * as ReceivedText from "./ReceivedText.ts"
import * as RequestHeaders from "./RequestHeaders.ts"
import { MAX_RETRY_AFTER_MILLIS, retryAfterMillis } from "./RetryPolicy.ts"
import type { LoadSign } from "./SenderLoad.ts"
import { header, type SignedContent } from "./Signature.ts"
import type { Signers } from "./Signers.ts"
import type { WebhookResponse, WebhookTransport } from "./WebhookTransport.ts"

/** An attempt that ended, the event for the delivery's state machine, and the sign of the receiver's load. */
export interface AttemptResult {
  readonly attempt: Attempt
  readonly event: DeliveryEvent
  readonly load: LoadSign
  /** How long the receiver asked to wait before the next request, in milliseconds. */
  readonly pauseMillis: number
}

/** The headers of an attempt. `RequestHeaders` makes sure that the endpoint's own headers can't replace these. */
const headersOf = (
  own: RequestHeaders.RequestHeaders,
  content: SignedContent,
  signature: string,
  sender: RequestHeaders.RequestHeaders,
): Readonly<Record<string, string>> => ({
  ...own,
  "content-type": "application/json",
  ...sender,
  "webhook-id": content.id,
  "webhook-timestamp": String(content.timestamp),
  "webhook-signature": signature,
})

/** What an answer means for the delivery. Only 2xx is a success. A redirect is not followed and counts as a failure. */
const eventOf = (response: WebhookResponse, now: number): DeliveryEvent => {
  if (response._tag === "Failed") return { _tag: "AttemptFailed", notBefore: undefined }
  const { status } = response
  if (status >= 200 && status < 300) return { _tag: "Succeeded" }
  if (status === 410) return { _tag: "Gone" }
  const wait = waitOf(response, now)
  return { _tag: "AttemptFailed", notBefore: wait === 0 ? undefined : now + wait }
}

/** How long a receiver asks to wait by `Retry-After`, in milliseconds. It counts with 429 and 503 only. */
const waitOf = (response: WebhookResponse, now: number): number =>
  response._tag === "Answered" && (response.status === 429 || response.status === 503)
    ? Math.min(retryAfterMillis(response.headers["retry-after"], now), MAX_RETRY_AFTER_MILLIS)
    : 0

/** 429, 502, 504 and time-outs are signs that the receiver is overloaded. */
const loadOf = (response: WebhookResponse): LoadSign => {
  if (response._tag === "Failed") return response.error === "timeout" ? "overloaded" : "none"
  if (response.status >= 200 && response.status < 300) return "fine"
  return response.status === 429 || response.status === 502 || response.status === 504 ? "overloaded" : "none"
}

/** Makes an attempt. The effect never fails: errors, also those of bugs, are part of the result. */
export const make = (
  claimed: ClaimedDelivery,
  signers: Signers,
  transport: WebhookTransport["Service"],
  sender: RequestHeaders.RequestHeaders,
): Effect.Effect<AttemptResult> =>
  Effect.suspend(() => {
    let requestHeaders: Readonly<Record<string, string>> = {}
    const send = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const content = { id: claimed.eventId, timestamp: Math.floor(now / 1_000), body: claimed.payload }
      const signature = yield* header(yield* signers.of(claimed, now), content)
      requestHeaders = headersOf(yield* signers.headersOf(claimed), content, signature, sender)
      const { tenant, endpoint, payload } = claimed
      const response = yield* transport.send({
        mode: tenant.mode,
        url: endpoint.url,
        headers: requestHeaders,
        body: payload,
      })
      return ReceivedText.storable(response)
    })
    return Effect.gen(function* () {
      const startedAt = yield* DateTime.now
      const outcome = yield* send.pipe(
        Effect.catchTag("SecretUnavailable", (error) =>
          Effect.as(Effect.logWarning(error.message), "secret_unavailable" as const),
        ),
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause)
            : Effect.as(
                Effect.logError("a webhook attempt died", claimed.id, cause),
                "internal_error" as const,
              ),
        ),
      )
      const now = yield* Clock.currentTimeMillis
      return resultOf(claimed, startedAt, now, requestHeaders, outcome)
    })
  })

const resultOf = (
  claimed: ClaimedDelivery,
  startedAt: DateTime.Utc,
  now: number,
  requestHeaders: Readonly<Record<string, string>>,
  outcome: WebhookResponse | "secret_unavailable" | "internal_error",
): AttemptResult => {
  const base = {
    number: claimed.attemptCount + 1,
    startedAt,
    durationMillis: Math.max(0, now - startedAt.epochMilliseconds),
    requestHeaders: RequestHeaders.masked(requestHeaders),
  }
  if (typeof outcome === "string") {
    const event: DeliveryEvent = { _tag: "AttemptFailed", notBefore: undefined }
    return { attempt: { ...base, ...unanswered(outcome) }, event, load: "none", pauseMillis: 0 }
  }
  const hide = RequestHeaders.withoutValues(requestHeaders)
  const answer =
    outcome._tag === "Failed"
      ? unanswered(outcome.error)
      : {
          responseStatus: outcome.status,
          responseHeaders: Object.fromEntries(
            Object.entries(outcome.headers).map(([name, value]) => [name, hide(value)]),
          ),
          responseBody: hide(outcome.body),
          error: null,
        }
  return {
    attempt: { ...base, ...answer },
    event: eventOf(outcome, now),
    load: loadOf(outcome),
    pauseMillis: waitOf(outcome, now),
  }
}

const unanswered = (error: AttemptError) => ({
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  error,
})
