/**
 * Checks that the keyring opens the stored secrets and headers, and says what to do if it doesn't.
 */
import { DateTime, Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import { headerContext } from "./EndpointHeaders.ts"
import { endpointContext, type EndpointOfTenant, EndpointStore } from "./EndpointStore.ts"
import { Keyring, keyIdOf, type SecretUnavailable } from "./Keyring.ts"
import * as LostKey from "./LostKey.ts"

/** All that is sealed of an endpoint and in use, each with its context. */
const sealedOf = ({
  headers,
  id,
  sealed,
  tenant,
}: EndpointOfTenant): ReadonlyArray<readonly [string, string]> => [
  ...sealed.map((secret) => [secret, endpointContext(tenant, id)] as const),
  ...Object.entries(headers).map(([name, value]) => [value, headerContext(tenant, id, name)] as const),
]

/**
 * Fails when a stored secret or header was sealed by a key that is not in the keyring, or by another key with the same id. To find
 * out, it opens one secret of each key. Expired secrets sign nothing, so their keys may be missing. It searches the endpoints of
 * all tenants, so run it only at the start.
 */
export const checkStoredSecrets: Effect.Effect<
  void,
  SecretUnavailable | StorageError,
  EndpointStore | Keyring
> = Effect.gen(function* () {
  const { keyIds, open } = yield* Keyring
  const store = yield* EndpointStore
  const now = yield* DateTime.now
  // First tries a secret of a key that is not in the keyring, then one of each key in it.
  for (const tried of [undefined, ...keyIds]) {
    const others = keyIds.filter((id) => id !== tried)
    const [endpoint] = yield* store.listSealedByOtherKeys(others, { now, limit: 1, after: undefined })
    if (endpoint === undefined) continue
    const found = sealedOf(endpoint).find(([sealed]) => !others.includes(keyIdOf(sealed)))
    if (found !== undefined) yield* open(...found)
  }
}).pipe(Effect.withSpan("checkStoredSecrets"))

/** How the caller names what the advice is about. */
export interface SecretsNames {
  /** Where the encryption keys are given. */
  readonly keys: string
  /** What to do when another process sends webhooks. Absent for a process that does nothing else. */
  readonly sendNothing?: string
}

/** A row that can't be read must not keep webhooks from being sent to all other endpoints. */
const unchecked = (error: StorageError) =>
  Effect.as(
    Effect.logWarning(
      "it could not be checked whether the encryption keys decrypt all stored secrets",
      error,
    ),
    undefined,
  )

/** Which key of the stored secrets is missing and what to do, in a sentence; `undefined` when the keyring opens them all. */
export const problemOfStoredSecrets = ({
  keys,
  sendNothing,
}: SecretsNames): Effect.Effect<string | undefined, StorageError, EndpointStore | Keyring> =>
  Effect.gen(function* () {
    const { keyIds } = yield* Keyring
    return yield* Effect.matchEffect(checkStoredSecrets, {
      onSuccess: () => Effect.succeed(undefined),
      onFailure: (error) => {
        if (error._tag === "StorageError") return error.retryable ? Effect.fail(error) : unchecked(error)
        const { advice, problem } = LostKey.explain(error, keyIds, keys)
        const otherwise =
          sendNothing === undefined ? "" : `, or ${sendNothing} if another process sends webhooks`
        return Effect.succeed(`some webhook secrets were ${problem}: ${advice}${otherwise}`)
      },
    })
  })
