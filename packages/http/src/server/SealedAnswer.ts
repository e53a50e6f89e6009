/**
 * Answers with a secret that are kept for repeats of their requests: encrypted at rest, as the secret itself is.
 *
 * A webhook secret is shown once, but an Idempotency-Key makes that "once for each request", so that a client that
 * lost the answer gets it again, byte for byte. What is kept for that is sealed by the same keyring, bound to the
 * request that it answers. Errors hold no secret and are kept as they are. A key that is taken out of the keyring
 * within the 7 days that answers are kept makes those that it sealed unreadable: they are answered with 409.
 */
import { type Keyring, type SecretUnavailable, type StoredResponse, Tenant } from "@billwright/core"
import { Effect, Redacted } from "effect"

/** What a stored answer is bound to. No endpoint's context begins like it. */
export const contextOf = (tenant: Tenant.Tenant, method: string, path: string, key: string): string =>
  `answer:${Tenant.tenantKey(tenant)}:${method} ${path}:${key}`

export const seal =
  (keyring: Keyring["Service"], context: string) =>
  (answer: StoredResponse): Effect.Effect<StoredResponse> =>
    Effect.map(keyring.seal(Redacted.make(answer.body), context), (body) => ({ ...answer, body }))

/** Opens an answer that was sealed; an error was not. */
export const open = (
  keyring: Keyring["Service"],
  context: string,
  answer: StoredResponse,
): Effect.Effect<StoredResponse, SecretUnavailable> =>
  answer.status >= 400
    ? Effect.succeed(answer)
    : Effect.map(keyring.open(answer.body, context), (body) => ({ ...answer, body: Redacted.value(body) }))
