/**
 * Checks that the keyring opens the stored secrets.
 */
import { Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import { endpointContext, EndpointStore } from "./EndpointStore.ts"
import { Keyring, keyIdOf, type SecretUnavailable } from "./Keyring.ts"

/**
 * Fails when a stored secret was sealed by a key that is not in the keyring, or by another key with the same id. To find
 * out, it opens one secret of each key. It searches the endpoints of all tenants, so run it only at the start.
 */
export const checkStoredSecrets: Effect.Effect<
  void,
  SecretUnavailable | StorageError,
  EndpointStore | Keyring
> = Effect.gen(function* () {
  const { keyIds, open } = yield* Keyring
  const store = yield* EndpointStore
  // First tries a secret of a key that is not in the keyring, then one of each key in it.
  for (const tried of [undefined, ...keyIds]) {
    const others = keyIds.filter((id) => id !== tried)
    const [endpoint] = yield* store.listSealedByOtherKeys(others, 1)
    const sealed = endpoint?.sealed.find((secret) => !others.includes(keyIdOf(secret)))
    if (endpoint !== undefined && sealed !== undefined) {
      yield* open(sealed, endpointContext(endpoint.tenant, endpoint.id))
    }
  }
}).pipe(Effect.withSpan("checkStoredSecrets"))
