/**
 * Whether the keys at hand open the secrets that are stored.
 */
import { Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import { endpointContext, EndpointStore } from "./EndpointStore.ts"
import { Keyring, keyIdOf, type SecretUnavailable } from "./Keyring.ts"

/**
 * Fails when a stored secret was sealed by a key that is not at hand, or by another than the one of its id: a secret
 * of each key is opened. It looks through the endpoints of all tenants, so it is for the start.
 */
export const checkStoredSecrets: Effect.Effect<
  void,
  SecretUnavailable | StorageError,
  EndpointStore | Keyring
> = Effect.gen(function* () {
  const { keyIds, open } = yield* Keyring
  const store = yield* EndpointStore
  // Of one that is not at hand first, then of each that is.
  for (const tried of [undefined, ...keyIds]) {
    const others = keyIds.filter((id) => id !== tried)
    const [endpoint] = yield* store.listSealedByOtherKeys(others, 1)
    const sealed = endpoint?.sealed.find((secret) => !others.includes(keyIdOf(secret)))
    if (endpoint !== undefined && sealed !== undefined) {
      yield* open(sealed, endpointContext(endpoint.tenant, endpoint.id))
    }
  }
}).pipe(Effect.withSpan("checkStoredSecrets"))
