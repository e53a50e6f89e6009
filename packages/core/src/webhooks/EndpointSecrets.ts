/**
 * Makes and rotates the secrets of endpoints, and re-encrypts them with the headers.
 */
import { DateTime, Effect } from "effect"
import { CurrentTenant, type Tenant } from "../shared/Tenant.ts"
import * as Endpoint from "./Endpoint.ts"
import type { EndpointHeaders } from "./EndpointHeaders.ts"
import { endpointContext, type EndpointStore } from "./EndpointStore.ts"
import { EncryptionKeyRequired, type Keyring, keyIdOf, type SecretUnavailable } from "./Keyring.ts"
import * as Signature from "./Signature.ts"

/** Most endpoints that one step of `rotateEncryption` re-encrypts. */
const REENCRYPTION_BATCH = 100

export const of = (
  keyring: Keyring["Service"],
  store: EndpointStore["Service"],
  headers: EndpointHeaders,
) => {
  /** Makes a sealed secret for an endpoint of the current tenant. `shown` is the secret for the receiver. */
  const make = Effect.fnUntraced(function* (
    id: Endpoint.EndpointId,
    scheme: Endpoint.SignatureScheme,
    now: DateTime.Utc,
  ) {
    const tenant = yield* CurrentTenant
    if (!keyring.modes.includes(tenant.mode)) return yield* new EncryptionKeyRequired()
    const made = yield* Signature.generate(scheme)
    const sealed = yield* keyring.seal(made.secret, endpointContext(tenant, id))
    const stored: Endpoint.EndpointSecret = { sealed, createdAt: now, expiresAt: null }
    return { publicKey: made.publicKey, shown: scheme === "hmac" ? made.secret : undefined, stored }
  })

  const reencrypt = ({ id, tenant }: { readonly id: Endpoint.EndpointId; readonly tenant: Tenant }) =>
    store
      .modify(id, ({ endpoint, secrets }) =>
        Effect.gen(function* () {
          const sealed = yield* Effect.forEach(secrets, (secret) =>
            resealed(secret, endpointContext(tenant, id)),
          )
          const own = yield* headers.reseal(endpoint.headers, tenant, id)
          const changed: Endpoint.StoredEndpoint = {
            endpoint: { ...endpoint, headers: own },
            secrets: sealed,
          }
          return changed
        }),
      )
      .pipe(Effect.provideService(CurrentTenant, tenant))

  const resealed = Effect.fnUntraced(function* (secret: Endpoint.EndpointSecret, context: string) {
    if (keyIdOf(secret.sealed) === keyring.primaryKeyId) return secret
    const sealed = yield* keyring.seal(yield* keyring.open(secret.sealed, context), context)
    return { ...secret, sealed }
  })

  const rotateEncryption = Effect.gen(function* () {
    const batch = yield* store.listSealedByOtherKeys([keyring.primaryKeyId], REENCRYPTION_BATCH)
    let unavailable: SecretUnavailable | undefined
    let count = 0
    for (const endpoint of batch) {
      // A secret whose key is missing must not stop the others from being re-encrypted.
      yield* reencrypt(endpoint).pipe(
        Effect.andThen(Effect.sync(() => count++)),
        Effect.catchTag("SecretUnavailable", (error) => Effect.sync(() => (unavailable = error))),
      )
    }
    if (count === 0 && unavailable !== undefined) return yield* unavailable
    return count
  }).pipe(Effect.withSpan("Endpoints.rotateEncryption"))

  return { make, rotateEncryption }
}

/** The previous secrets, which end at `expiresAt` or sooner. Expired ones and those beyond the limit are dropped. */
export const ending = (
  secrets: ReadonlyArray<Endpoint.EndpointSecret>,
  expiresAt: DateTime.Utc,
  now: DateTime.Utc,
): ReadonlyArray<Endpoint.EndpointSecret> =>
  secrets
    .map((secret) => ({
      ...secret,
      expiresAt: secret.expiresAt === null ? expiresAt : DateTime.min(secret.expiresAt, expiresAt),
    }))
    .filter((secret) => now.epochMilliseconds < secret.expiresAt.epochMilliseconds)
    .slice(0, Endpoint.MAX_LIVE_SECRETS - 1)
