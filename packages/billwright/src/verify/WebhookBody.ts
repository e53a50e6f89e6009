import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** The body of the request, unchanged: its bytes, or its text decoded as UTF-8. */
export type WebhookBody = string | ArrayBuffer | ArrayBufferView

const ADVICE = "The signature covers the bytes that were sent: pass the raw body, before anything parses it."

const problemOf = (body: unknown): string => {
  if (body === undefined || body === null) return "There is no body."
  if (typeof body !== "object") return `The body is a ${typeof body}.`
  if ("then" in body) return "The body is a promise: await it."
  if ("getReader" in body || "pipe" in body) return "The body is a stream: read it to its end."
  return "The body is an object: was it parsed already?"
}

/** Not `instanceof`, which fails for objects of another realm. Test runners have several realms. */
const isArrayBuffer = (value: unknown): value is ArrayBuffer =>
  Object.prototype.toString.call(value) === "[object ArrayBuffer]"

/** The bytes of a body, without copying them. Throws `invalid_body`. */
export const bytesOf = (body: WebhookBody): Uint8Array => {
  if (typeof body === "string") {
    // Encoding replaces a lone surrogate with another character, so two texts could have the same signature.
    if (!body.isWellFormed())
      throw new WebhookVerificationError(
        "invalid_body",
        `The body contains a lone surrogate, so it is not the text that was sent. ${ADVICE}`,
      )
    return new TextEncoder().encode(body)
  }
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  if (isArrayBuffer(body)) return new Uint8Array(body)
  throw new WebhookVerificationError("invalid_body", `${problemOf(body)} ${ADVICE}`)
}

/** Parses a payload, which must be JSON in UTF-8. Throws `payload_not_json`. */
export const parseJson = (payload: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload))
  } catch {
    // No `cause`, because the parser's message quotes the payload.
    throw new WebhookVerificationError(
      "payload_not_json",
      "The signature is valid, but the body is not JSON.",
    )
  }
}
