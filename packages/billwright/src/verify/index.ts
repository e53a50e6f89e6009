/**
 * Verifies webhooks that are signed by Standard Webhooks (https://www.standardwebhooks.com). It has no dependencies
 * and runs wherever there is WebCrypto: Node 22, Deno, Bun, Workers, browsers.
 */
export { verify, verifySignature } from "./Verification.ts"
export type { VerifiedMessage, VerifiedWebhook, VerifyOptions } from "./Verification.ts"
export type { WebhookBody } from "./WebhookBody.ts"
export type { EventEnvelope, WebhookEvent } from "./WebhookEvent.ts"
export { MAX_ID_LENGTH, type WebhookHeaders } from "./WebhookHeaders.ts"
export type { WebhookKeys } from "./WebhookKeys.ts"
export { MAX_SIGNATURE_HEADER_LENGTH, MAX_SIGNATURES } from "./WebhookSignatures.ts"
export { DEFAULT_TOLERANCE_SECONDS, type WebhookTolerance } from "./WebhookTimestamp.ts"
export {
  type WebhookErrorCode,
  webhookErrorCodes,
  WebhookVerificationError,
} from "./WebhookVerificationError.ts"
