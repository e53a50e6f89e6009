/**
 * Checks that the keyring opens the stored secrets and headers, and says what to do if it doesn't.
 */
import { DateTime, Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { EndpointId } from "./Endpoint.ts"
import { headerContext } from "./EndpointHeaders.ts"
import { endpointContext, type EndpointOfTenant, EndpointStore } from "./EndpointStore.ts"
import { Keyring, keyIdOf, SecretUnavailable } from "./Keyring.ts"
import * as LostKey from "./LostKey.ts"

/** Most endpoints of a key that are looked at. A single one may be damaged, which says nothing of the key. */
const MAX_LOOKED_AT = 10

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

/** Whether the keyring opens each of the values that a key sealed of an endpoint. */
interface LookedAt {
  readonly id: EndpointId
  readonly opens: ReadonlyArray<boolean>
}

/** Tries what the key sealed of an endpoint. */
const lookAt = (keyId: string, endpoint: EndpointOfTenant) =>
  Effect.flatMap(Keyring, ({ open }) =>
    Effect.forEach(
      sealedOf(endpoint).filter(([sealed]) => keyIdOf(sealed) === keyId),
      (found) => Effect.isSuccess(open(...found)),
    ),
  ).pipe(Effect.map((opens): LookedAt => ({ id: endpoint.id, opens })))

const warnOfDamaged = (keyId: string, ids: ReadonlyArray<EndpointId>) =>
  ids.length === 0
    ? Effect.void
    : Effect.logWarning(
        `nothing is sent to the webhook endpoints ${ids.join(", ")}, because a secret or a header of them was changed or moved since the key "${keyId}" encrypted it: rotate their secrets and set their headers again`,
      )

/**
 * A key that opens nothing is another one with the same id. One that opens something is the right one, so what it does not open
 * was changed or moved, and must not keep webhooks from all other endpoints.
 */
const judge = (keyId: string, looked: ReadonlyArray<LookedAt>) => {
  const all = looked.flatMap(({ opens }) => opens)
  return all.length > 0 && !all.includes(true)
    ? Effect.fail(new SecretUnavailable({ keyId }))
    : warnOfDamaged(
        keyId,
        looked.filter(({ opens }) => opens.includes(false)).map(({ id }) => id),
      )
}

/**
 * Fails when a stored secret or header was sealed by a key that is not in the keyring, or by another key with the same id. To find
 * out, it opens what each key sealed of a few endpoints. If the key opens only some of it, it logs a warning. Expired secrets sign
 * nothing, so their keys may be missing. It searches the endpoints of all tenants, so run it only at the start.
 */
export const checkStoredSecrets: Effect.Effect<
  void,
  SecretUnavailable | StorageError,
  EndpointStore | Keyring
> = Effect.gen(function* () {
  const { keyIds } = yield* Keyring
  const store = yield* EndpointStore
  const now = yield* DateTime.now
  const notBy = (others: ReadonlyArray<string>, limit: number) =>
    store.listSealedByOtherKeys(others, { now, limit, after: undefined })
  const [first] = yield* notBy(keyIds, 1)
  const missing = first && sealedOf(first).find(([sealed]) => !keyIds.includes(keyIdOf(sealed)))
  if (missing !== undefined) return yield* new SecretUnavailable({ keyId: keyIdOf(missing[0]) })
  for (const keyId of keyIds) {
    const others = keyIds.filter((id) => id !== keyId)
    const endpoints = yield* notBy(others, MAX_LOOKED_AT)
    yield* judge(keyId, yield* Effect.forEach(endpoints, (endpoint) => lookAt(keyId, endpoint)))
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
