/**
 * The secrets of endpoints, opened once and ready to sign.
 *
 * A secret whose key is missing keeps the others of its endpoint from nothing: receivers take any signature that
 * is right, so that rotating the secret is a way out of a lost key. Only when none opens there is no signing.
 */
import { Effect, Result } from "effect"
import type { ClaimedDelivery } from "./DeliveryStore.ts"
import { liveSecrets } from "./Endpoint.ts"
import { endpointContext } from "./EndpointStore.ts"
import type { Keyring, SecretUnavailable } from "./Keyring.ts"
import { type Signer, signer } from "./Signature.ts"

/** Most secrets that are kept open. */
const MAX_OPEN_SECRETS = 10_000

export interface Signers {
  /** The signers of a delivery's endpoint: one for each secret that is live, newest first. */
  readonly of: (
    claimed: ClaimedDelivery,
    nowMillis: number,
  ) => Effect.Effect<ReadonlyArray<Signer>, SecretUnavailable>
}

export const make = (keyring: Keyring["Service"]): Signers => {
  // By what is sealed and where: a secret that is rotated or encrypted anew is another entry.
  const open = new Map<string, Signer>()

  const opened = Effect.fnUntraced(function* (sealed: string, context: string) {
    const key = `${context} ${sealed}`
    const known = open.get(key)
    if (known !== undefined) return known
    const made = yield* signer(yield* keyring.open(sealed, context))
    if (open.size >= MAX_OPEN_SECRETS) open.clear()
    open.set(key, made)
    return made
  })

  return {
    of: Effect.fnUntraced(function* ({ endpoint, tenant }, nowMillis) {
      const context = endpointContext(tenant, endpoint.id)
      const made: Array<Signer> = []
      let unavailable: SecretUnavailable | undefined
      for (const { sealed } of liveSecrets(endpoint.secrets, nowMillis)) {
        const result = yield* Effect.result(opened(sealed, context))
        if (Result.isSuccess(result)) made.push(result.success)
        else unavailable = result.failure
      }
      if (made.length === 0 && unavailable !== undefined) return yield* unavailable
      return made
    }),
  }
}
