/**
 * One attempt: it signs the event, sends it and evaluates the answer.
 */
import { Cause, DateTime, Effect, Option } from "effect"
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

/** What the receiver answered, or why nothing was sent. */
type Outcome = WebhookResponse | "secret_unavailable" | "internal_error"

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

/**
 * Makes an attempt. The effect never fails: errors, also those of bugs, are part of the result.
 *
 * It has few steps, because every attempt takes all of them: see docs/decisions/0053.
 */
export const make = (
  claimed: ClaimedDelivery,
  signers: Signers,
  transport: WebhookTransport["Service"],
  sender: RequestHeaders.RequestHeaders,
): Effect.Effect<AttemptResult> =>
  Effect.clockWith((clock) => {
    const now = clock.currentTimeMillisUnsafe()
    let requestHeaders: Readonly<Record<string, string>> = {}
    const end = (outcome: Outcome): AttemptResult =>
      resultOf(claimed, now, clock.currentTimeMillisUnsafe(), requestHeaders, outcome)
    const signed = Effect.suspend(() => {
      const content = { id: claimed.eventId, timestamp: Math.floor(now / 1_000), body: claimed.payload }
      return Effect.flatMap(signers.of(claimed, now), (its) =>
        Effect.flatMap(header(its, content), (signature) =>
          Effect.map(signers.headersOf(claimed), (own) => headersOf(own, content, signature, sender)),
        ),
      )
    })
    const sent = Effect.flatMap(signed, (headers) => {
      requestHeaders = headers
      const { tenant, endpoint, payload } = claimed
      return transport.send({ mode: tenant.mode, url: endpoint.url, headers, body: payload })
    })
    return Effect.map(sent, (response) => end(ReceivedText.storable(response))).pipe(
      Effect.catchCause((cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
        const unavailable = Option.getOrUndefined(Cause.findErrorOption(cause))
        return unavailable?._tag !== "SecretUnavailable"
          ? Effect.map(Effect.logError("a webhook attempt died", claimed.id, cause), () =>
              end("internal_error"),
            )
          : Effect.map(signers.logLostKey(unavailable, claimed.endpoint.id), () => end("secret_unavailable"))
      }),
    )
  })

const resultOf = (
  claimed: ClaimedDelivery,
  startedAt: number,
  now: number,
  requestHeaders: Readonly<Record<string, string>>,
  outcome: Outcome,
): AttemptResult => {
  const base = {
    number: claimed.attemptCount + 1,
    startedAt: DateTime.makeUnsafe(startedAt),
    durationMillis: Math.max(0, now - startedAt),
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
          responseHeaders: hidden(outcome.headers, hide),
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

/** Mostly nothing is hidden. */
const hidden = (
  headers: Readonly<Record<string, string>>,
  hide: (text: string) => string,
): Readonly<Record<string, string>> =>
  Object.keys(headers).every((name) => hide(headers[name]!) === headers[name])
    ? headers
    : Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, hide(value)]))

const unanswered = (error: AttemptError) => ({
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  error,
})
