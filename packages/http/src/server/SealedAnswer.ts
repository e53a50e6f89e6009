/**
 * Encrypts stored answers that contain a secret. They are stored for repeats of their requests.
 *
 * A webhook secret is shown only once. With an Idempotency-Key, a client that has lost the answer can repeat its
 * request and gets the same answer, byte for byte. The stored answer is encrypted with the same keyring as the
 * secret, and bound to its request. Errors contain no secret and are not encrypted. Answers are stored for 7 days.
 * If a key is removed from the keyring within that time, repeats of the answers that it encrypted get 409.
 */
import { type Keyring, type SecretUnavailable, type StoredResponse, Tenant } from "@billwright/core"
import { Effect, Redacted } from "effect"

/**
 * The encryption context that binds a stored answer to its request. It differs from the contexts of all endpoints.
 */
export const contextOf = (tenant: Tenant.Tenant, method: string, path: string, key: string): string =>
  `answer:${Tenant.tenantKey(tenant)}:${method} ${path}:${key}`

export const seal =
  (keyring: Keyring["Service"], context: string) =>
  (answer: StoredResponse): Effect.Effect<StoredResponse> =>
    Effect.map(keyring.seal(Redacted.make(answer.body), context), (body) => ({ ...answer, body }))

/** Decrypts a stored answer. Errors are stored without encryption. */
export const open = (
  keyring: Keyring["Service"],
  context: string,
  answer: StoredResponse,
): Effect.Effect<StoredResponse, SecretUnavailable> =>
  answer.status >= 400
    ? Effect.succeed(answer)
    : Effect.map(keyring.open(answer.body, context), (body) => ({ ...answer, body: Redacted.value(body) }))
