import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** The body of the request as it arrived: its bytes, or its text if it was read as UTF-8. */
export type WebhookBody = string | ArrayBuffer | ArrayBufferView

const ADVICE = "The signature is of the bytes that were sent: take the raw body, before anything parses it."

const problemOf = (body: unknown): string => {
  if (body === undefined || body === null) return "There is no body."
  if (typeof body !== "object") return `The body is a ${typeof body}.`
  if ("then" in body) return "The body is a promise: await it."
  if ("getReader" in body || "pipe" in body) return "The body is a stream: read it to its end."
  return "The body is an object: was it parsed already?"
}

/** Objects of another realm are no instances of this one's classes, and test runners have several. */
const isArrayBuffer = (value: unknown): value is ArrayBuffer =>
  Object.prototype.toString.call(value) === "[object ArrayBuffer]"

/** The bytes of a body, not copied. Fails with `invalid_body`. */
export const bytesOf = (body: WebhookBody): Uint8Array => {
  if (typeof body === "string") {
    // Encoding would turn a lone surrogate into another character, so that two texts had one signature.
    if (!body.isWellFormed())
      throw new WebhookVerificationError("invalid_body", `The body is no text that was sent. ${ADVICE}`)
    return new TextEncoder().encode(body)
  }
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  if (isArrayBuffer(body)) return new Uint8Array(body)
  throw new WebhookVerificationError("invalid_body", `${problemOf(body)} ${ADVICE}`)
}

/** The JSON in a payload, which must be UTF-8. Fails with `payload_not_json`. */
export const parseJson = (payload: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload))
  } catch {
    // Without its cause: the parser's message quotes the payload.
    throw new WebhookVerificationError(
      "payload_not_json",
      "The signature is right, but the body is not JSON.",
    )
  }
}
