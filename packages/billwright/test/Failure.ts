import { type WebhookErrorCode, webhookErrorCodes, WebhookVerificationError } from "billwright/verify"
import { assert } from "vitest"

/** The error of a failed verification. It must be a `WebhookVerificationError` with a message. */
export const failureOf = async (verification: Promise<unknown>): Promise<WebhookVerificationError> => {
  const outcome = await verification.then(
    (value) => assert.fail(`verified: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  assert.instanceOf(outcome, WebhookVerificationError)
  assert.strictEqual(outcome.name, "WebhookVerificationError")
  assert.isNotEmpty(outcome.message)
  assert.include(webhookErrorCodes, outcome.code)
  return outcome
}

export const codeOf = async (verification: Promise<unknown>): Promise<WebhookErrorCode> =>
  (await failureOf(verification)).code
