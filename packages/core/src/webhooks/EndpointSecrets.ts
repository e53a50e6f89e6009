/**
 * Makes and rotates the secrets of endpoints, and re-encrypts them with the headers.
 */
import { DateTime, Effect } from "effect"
import { CurrentTenant, type Tenant } from "../shared/Tenant.ts"
import * as Endpoint from "./Endpoint.ts"
import type { EndpointHeaders } from "./EndpointHeaders.ts"
import { endpointContext, type EndpointOfTenant, type EndpointStore } from "./EndpointStore.ts"
import {
  EncryptionKeyRequired,
  type Keyring,
  keyIdOf,
  type SealedSecret,
  type SecretUnavailable,
} from "./Keyring.ts"
import * as Signature from "./Signature.ts"

/** Endpoints that are read at a time. A step of `rotateEncryption` ends when it has re-encrypted as many. */
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

  const isOther = (sealed: SealedSecret): boolean => keyIdOf(sealed) !== keyring.primaryKeyId

  /**
   * Re-encrypts what can be opened, and drops expired secrets. What can't be opened stays as it is, and must not keep the
   * rest from being re-encrypted. Fails when nothing is left that can be opened, so that every success is a step forward.
   */
  const resealedAll = Effect.fnUntraced(function* (
    { endpoint, secrets }: Endpoint.StoredEndpoint,
    tenant: Tenant,
    now: DateTime.Utc,
  ) {
    const failures: Array<SecretUnavailable> = []
    const live = Endpoint.liveSecrets(secrets, now.epochMilliseconds)
    const resealedSecrets = yield* Effect.forEach(live, (secret) =>
      orAsItIs(resealed(secret, endpointContext(tenant, endpoint.id)), secret, failures),
    )
    const resealedHeaders = yield* Effect.forEach(Object.entries(endpoint.headers), ([name, value]) =>
      orAsItIs(headers.reseal({ [name]: value }, tenant, endpoint.id), { [name]: value }, failures),
    )
    const sealed = [...live.map((secret) => secret.sealed), ...Object.values(endpoint.headers)]
    const [failure] = failures
    if (failure !== undefined && failures.length === sealed.filter(isOther).length) return yield* failure
    const changed: Endpoint.StoredEndpoint = {
      endpoint: { ...endpoint, headers: Object.fromEntries(resealedHeaders.flatMap(Object.entries<string>)) },
      secrets: resealedSecrets,
    }
    return changed
  })

  /** Gives the failure: an endpoint that can't be re-encrypted must not keep the others from it. */
  const reencrypt = ({ id, tenant }: EndpointOfTenant, now: DateTime.Utc) =>
    store
      .modify(id, (stored) => resealedAll(stored, tenant, now))
      .pipe(
        Effect.as(undefined),
        Effect.catchTag("SecretUnavailable", (failure) => Effect.succeed(failure)),
        Effect.provideService(CurrentTenant, tenant),
      )

  const resealed = Effect.fnUntraced(function* (secret: Endpoint.EndpointSecret, context: string) {
    if (!isOther(secret.sealed)) return secret
    const sealed = yield* keyring.seal(yield* keyring.open(secret.sealed, context), context)
    return { ...secret, sealed }
  })

  const rotateEncryption = Effect.gen(function* () {
    const now = yield* DateTime.now
    const failures: Array<SecretUnavailable> = []
    let count = 0
    let after: EndpointOfTenant | undefined
    do {
      const page = yield* store.listSealedByOtherKeys([keyring.primaryKeyId], {
        now,
        limit: REENCRYPTION_BATCH,
        after,
      })
      for (const endpoint of page) {
        const failure = yield* reencrypt(endpoint, now)
        if (failure === undefined) count++
        else failures.push(failure)
      }
      after = page.at(-1)
    } while (after !== undefined && count < REENCRYPTION_BATCH)
    const [failure] = failures
    if (count > 0 || failure === undefined) return count
    yield* Effect.logWarning(`webhook endpoints that can't be encrypted again: ${failures.length}`)
    return yield* failure
  }).pipe(Effect.withSpan("Endpoints.rotateEncryption"))

  return { make, rotateEncryption }
}

/** Gives what is stored, and notes the failure, when the key is missing. */
const orAsItIs = <A>(
  resealing: Effect.Effect<A, SecretUnavailable>,
  stored: A,
  failures: Array<SecretUnavailable>,
): Effect.Effect<A> =>
  Effect.catchTag(resealing, "SecretUnavailable", (failure) =>
    Effect.sync(() => {
      failures.push(failure)
      return stored
    }),
  )

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
