import { bytesOf, parseJson, type WebhookBody } from "./WebhookBody.ts"
import type { WebhookEvent } from "./WebhookEvent.ts"
import { readHeaders, type WebhookHeaders } from "./WebhookHeaders.ts"
import { decodeKeys, type WebhookKeys } from "./WebhookKeys.ts"
import { checkSignatures, parseSignatures } from "./WebhookSignatures.ts"
import { checkTimestamp, type WebhookTolerance } from "./WebhookTimestamp.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** The request to verify, the keys to verify it with, and how old it may be. */
export type VerifyOptions = WebhookKeys &
  WebhookTolerance & {
    readonly headers: WebhookHeaders
    /** The body. Limit its size before you call. It is copied, so you may change it afterwards. */
    readonly body: WebhookBody
  }

/** What a valid signature proves, besides the body. */
export interface VerifiedMessage {
  /** The event's id. It is the same in each attempt, so skip a message whose id you have already handled. */
  readonly id: string
  /** When this attempt was sent, to the second. */
  readonly timestamp: Date
}

/** A verified message with its event. */
export interface VerifiedWebhook<Events extends object = Record<string, unknown>> extends VerifiedMessage {
  readonly event: WebhookEvent<Events>
}

/** The signed content (Standard Webhooks, "Signature scheme"), and the part of it that is the body. */
const signedContent = (start: string, body: Uint8Array) => {
  const head = new TextEncoder().encode(start)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return { content, payload: content.subarray(head.length) }
}

const authenticate = async (options: VerifyOptions) => {
  if (typeof options !== "object" || options === null)
    throw new WebhookVerificationError("invalid_option", "verify needs { secret, headers, body }.")
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
 * `data`: `verify<{ "invoice.paid": Invoice }>(…)`; `event` is then a union by `event.type`.
 *
 * The signature proves who sent the event and that it arrived unchanged. The event's data is not checked against
 * its type. Somebody who captures a message can send it again while it is recent enough, so handle each `id` only
 * once.
 *
 * Rejects with a `WebhookVerificationError`, whose `code` says why. */
export const verify = async <Events extends object = Record<string, unknown>>(
  options: VerifyOptions,
): Promise<VerifiedWebhook<Events>> => {
  const { message, payload } = await authenticate(options)
  return { ...message, event: parseJson(payload) as WebhookEvent<Events> }
}

/**
 * Verifies as `verify` does, but doesn't parse the body. The body need not be JSON.
 *
 * Rejects with a `WebhookVerificationError`, but never with the code `payload_not_json`.
 */
export const verifySignature = async (options: VerifyOptions): Promise<VerifiedMessage> =>
  (await authenticate(options)).message
