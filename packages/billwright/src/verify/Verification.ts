import { bytesOf, parseJson, type WebhookBody } from "./WebhookBody.ts"
import type { WebhookEvent } from "./WebhookEvent.ts"
import { readHeaders, type WebhookHeaders } from "./WebhookHeaders.ts"
import { decodeKeys, type WebhookKeys } from "./WebhookKeys.ts"
import { checkSignatures, parseSignatures } from "./WebhookSignatures.ts"
import { checkTimestamp, type WebhookTolerance } from "./WebhookTimestamp.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** A request to verify, what to verify it with, and how old it may be. */
export type VerifyOptions = WebhookKeys &
  WebhookTolerance & {
    readonly headers: WebhookHeaders
    /** Its size is the caller's to limit, before. It is copied once, so it may be changed afterwards. */
    readonly body: WebhookBody
  }

/** What a right signature vouches for, besides the body. */
export interface VerifiedMessage {
  /** The event's id, the same for each attempt to deliver it: what was handled under it needs no second time. */
  readonly id: string
  /** When this attempt was sent, to the second. */
  readonly timestamp: Date
}

/** A verified message with its event. */
export interface VerifiedWebhook<Events extends object = Record<string, unknown>> extends VerifiedMessage {
  readonly event: WebhookEvent<Events>
}

/** What is signed (Standard Webhooks, "Signature scheme"), and in the end of it the body. */
const signedContent = (start: string, body: Uint8Array) => {
  const head = new TextEncoder().encode(start)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return { content, payload: content.subarray(head.length) }
}

const authenticate = async (options: VerifyOptions) => {
  if (typeof options !== "object" || options === null)
    throw new WebhookVerificationError("invalid_option", "verify takes { secret, headers, body }.")
  const keys = decodeKeys(options)
  const body = bytesOf(options.body)
  const headers = readHeaders(options.headers)
  const timestamp = checkTimestamp(headers.timestamp, options)
  const signatures = parseSignatures(headers.signature)
  const { content, payload } = signedContent(`${headers.id}.${headers.timestamp}.`, body)
  await checkSignatures(signatures, keys, content)
  return { message: { id: headers.id, timestamp }, payload }
}

/**
 * Verifies a message of Standard Webhooks and reads its event. `Events` names the types that you expect, with their
 * `data`: `verify<{ "invoice.paid": Invoice }>(…)`; `event` is then a union that `event.type` tells apart.
 *
 * The signature says who wrote the event and that it arrived as written. What is in it is the sender's word: it is
 * not checked against its type. A message that was captured can be sent again for as long as it is recent enough:
 * handle an `id` once.
 *
 * Rejects with `WebhookVerificationError`, whose `code` says why.
 */
export const verify = async <Events extends object = Record<string, unknown>>(
  options: VerifyOptions,
): Promise<VerifiedWebhook<Events>> => {
  const { message, payload } = await authenticate(options)
  return { ...message, event: parseJson(payload) as WebhookEvent<Events> }
}

/**
 * Verifies as `verify` does and leaves the body alone, which need not be JSON.
 *
 * Rejects with `WebhookVerificationError`, never with `payload_not_json`.
 */
export const verifySignature = async (options: VerifyOptions): Promise<VerifiedMessage> =>
  (await authenticate(options)).message
