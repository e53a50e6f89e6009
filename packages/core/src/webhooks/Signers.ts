/**
 * The secrets of endpoints, decrypted once and ready to sign, and their headers.
 *
 * When the key of one secret is missing, the endpoint's other secrets still sign, because receivers accept any correct
 * signature. So rotating the secret helps when a key was lost. Signing fails only when no secret can be decrypted.
 */
import { Effect, Result } from "effect"
import type { ClaimedDelivery } from "./DeliveryStore.ts"
import { liveSecrets } from "./Endpoint.ts"
import * as EndpointHeaders from "./EndpointHeaders.ts"
import type { SealedHeaders } from "./EndpointHeaders.ts"
import { endpointContext } from "./EndpointStore.ts"
import type { Keyring, SecretUnavailable } from "./Keyring.ts"
import * as LostKey from "./LostKey.ts"
import type { RequestHeaders } from "./RequestHeaders.ts"
import { type Signer, signer } from "./Signature.ts"

/** Most decrypted secrets that are kept. */
const MAX_OPEN_SECRETS = 10_000

export interface Signers {
  /** The signers of a delivery's endpoint: one for each secret that has not expired, newest first. */
  readonly of: (
    claimed: ClaimedDelivery,
    nowMillis: number,
  ) => Effect.Effect<ReadonlyArray<Signer>, SecretUnavailable>
  /** The headers of a delivery's endpoint, as they are sent. */
  readonly headersOf: (claimed: ClaimedDelivery) => Effect.Effect<RequestHeaders, SecretUnavailable>
  /** Logs that one of these could not be decrypted. */
  readonly logLostKey: LostKey.LogLostKey
}

export const make = (keyring: Keyring["Service"]): Signers => {
  // The key is the sealed secret with its place, so a rotated or re-encrypted secret has another entry.
  const open = new Map<string, Signer>()

  const opened = Effect.fnUntraced(function* (sealed: string, context: string) {
    const key = keyOf(sealed, context)
    const known = open.get(key)
    if (known !== undefined) return known
    const made = yield* signer(yield* keyring.open(sealed, context))
    if (open.size >= MAX_OPEN_SECRETS) open.clear()
    open.set(key, made)
    return made
  })

  /** Fails only when none can be decrypted. */
  const openAll = Effect.fnUntraced(function* (sealed: ReadonlyArray<string>, context: string) {
    const made: Array<Signer> = []
    let unavailable: SecretUnavailable | undefined
    for (const each of sealed) {
      const result = yield* Effect.result(opened(each, context))
      if (Result.isSuccess(result)) made.push(result.success)
      else unavailable = result.failure
    }
    if (made.length === 0 && unavailable !== undefined) return yield* unavailable
    return made
  })

  const headers = EndpointHeaders.of(keyring)
  return {
    logLostKey: LostKey.makeLog(keyring),
    headersOf: ({ endpoint, tenant }) =>
      hasNone(endpoint.headers) ? none : headers.open(endpoint.headers, tenant, endpoint.id),
    of: ({ endpoint, tenant }, nowMillis) => {
      const context = endpointContext(tenant, endpoint.id)
      const sealed = liveSecrets(endpoint.secrets, nowMillis).map((secret) => secret.sealed)
      const known = sealed.map((each) => open.get(keyOf(each, context)))
      return known.every((each) => each !== undefined) ? Effect.succeed(known) : openAll(sealed, context)
    },
  }
}

const keyOf = (sealed: string, context: string): string => `${context} ${sealed}`

/** Most endpoints have no headers of their own. */
const none = Effect.succeed<RequestHeaders>({})

const hasNone = (headers: SealedHeaders): boolean => Object.keys(headers).length === 0
