/** The receiver is set up wrongly: no message would verify. */
const setupCodes = [
  "invalid_secret",
  "invalid_public_key",
  "invalid_option",
  "invalid_headers",
  "unsupported_runtime",
] as const

/** This message does not verify. */
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

/** Every way in which a verification can fail. The package's README says what each means. */
export const webhookErrorCodes = [...setupCodes, ...messageCodes] as const

/** One of `webhookErrorCodes`. Codes keep their meaning; later versions may add some. */
export type WebhookErrorCode = (typeof webhookErrorCodes)[number]

const isOfSetup = (code: WebhookErrorCode): boolean =>
  (setupCodes as ReadonlyArray<WebhookErrorCode>).includes(code)

/**
 * What `verify` and `verifySignature` reject with, and nothing else. `code` is for programs, `message` for people.
 * Neither ever holds a secret, a signature or a piece of the payload: both may be logged.
 */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError"
  readonly code: WebhookErrorCode
  /**
   * The HTTP status to answer with: 400 for a message that does not verify, 500 for a receiver that is set up
   * wrongly. Express, Fastify and Koa answer with an error's `status` by themselves.
   */
  readonly status: 400 | 500

  constructor(code: WebhookErrorCode, message: string) {
    super(message)
    this.code = code
    this.status = isOfSetup(code) ? 500 : 400
  }
}
