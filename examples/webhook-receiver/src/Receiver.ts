/** A receiver of webhooks, as a handler for node:http. */
import type { IncomingMessage, RequestListener } from "node:http"
import { verify, type VerifiedWebhook, type WebhookKeys, WebhookVerificationError } from "billwright/verify"
import { SeenIds } from "./SeenIds.ts"

/** The largest body: 1 MiB. Billwright's events have at most a quarter of that. */
const MAX_BODY_BYTES = 1_048_576

/** How many ids are remembered. A receiver with a database should use a unique column instead, without a limit. */
const MAX_SEEN_IDS = 10_000

interface Answer {
  readonly status: number
  /** The body of the answer. Default: no body. */
  readonly error?: { readonly error: string; readonly message: string }
}

export interface ReceiverOptions {
  readonly keys: WebhookKeys
  /** Called once for each event. When it throws, the answer is 500 and the sender tries again. */
  readonly onEvent: (webhook: VerifiedWebhook) => void
  /** Called for a repeated event (a retry or a replay). It is answered, but not handled again. */
  readonly onRepeat: (webhook: VerifiedWebhook) => void
  readonly onRefusal: (code: string, message: string) => void
}

/**
 * The unchanged body, or `undefined` if it is too large. A large body is read to its end without keeping it, because a
 * sender that is cut off would not see the answer.
 */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Array<Buffer> = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined
}

const answerTo = async (
  request: IncomingMessage,
  { keys, onEvent, onRepeat }: ReceiverOptions,
  seen: SeenIds,
): Promise<Answer> => {
  const body = await readBody(request)
  if (body === undefined)
    return { status: 413, error: { error: "payload_too_large", message: "1 MiB is the limit." } }
  const webhook = await verify({ ...keys, headers: request.headers, body })
  if (seen.has(webhook.id)) onRepeat(webhook)
  else {
    onEvent(webhook)
    seen.add(webhook.id)
  }
  return { status: 204 }
}

const failureOf = (error: unknown, { onRefusal }: ReceiverOptions): Answer => {
  if (error instanceof WebhookVerificationError) {
    const { code, message, status } = error
    onRefusal(code, message)
    return { status, error: { error: code, message } }
  }
  onRefusal("internal_error", String(error))
  return { status: 500, error: { error: "internal_error", message: "The event was not handled." } }
}

/**
 * Answers 204 to a verified event, also to a repeated one, and 400 with the error's code to a request that fails
 * verification. Answers 413 beyond 1 MiB, and 500 when `onEvent` fails or the keys are invalid.
 */
export const makeReceiver = (options: ReceiverOptions): RequestListener => {
  const seen = new SeenIds(MAX_SEEN_IDS)
  return async (request, response) => {
    const { error, status } = await answerTo(request, options, seen).catch((error: unknown) =>
      failureOf(error, options),
    )
    if (error === undefined) response.writeHead(status).end()
    else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(error))
  }
}
