/** The receiver is set up wrongly, so no message can be verified. */
const setupCodes = [
  "invalid_secret",
  "invalid_public_key",
  "invalid_option",
  "invalid_headers",
  "unsupported_runtime",
] as const

/** This message is not valid. */
const messageCodes = [
  "invalid_body",
  "missing_header",
  "invalid_id",
  "invalid_timestamp",
  "timestamp_too_old",
  "timestamp_too_new",
  "invalid_signature_header",
  "no_matching_signature",
  "payload_not_json",
] as const

/** All codes of failed verifications. The package's README explains each. */
export const webhookErrorCodes = [...setupCodes, ...messageCodes] as const

/** One of `webhookErrorCodes`. Codes keep their meaning. Later versions may add codes. */
export type WebhookErrorCode = (typeof webhookErrorCodes)[number]

const isOfSetup = (code: WebhookErrorCode): boolean =>
  (setupCodes as ReadonlyArray<WebhookErrorCode>).includes(code)

/**
 * The only error that `verify` and `verifySignature` reject with. `code` is for programs, `message` for people.
 * Neither contains a secret, a signature or a part of the payload, so you may log both.
 */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError"
  readonly code: WebhookErrorCode
  /**
   * The HTTP status to answer with: 400 for a message that is not valid, 500 when the receiver is set up wrongly.
   * Express, Fastify and Koa use an error's `status` automatically.
   */
  readonly status: 400 | 500

  constructor(code: WebhookErrorCode, message: string) {
    super(message)
    this.code = code
    this.status = isOfSetup(code) ? 500 : 400
  }
}
