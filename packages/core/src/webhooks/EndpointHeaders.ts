/**
 * The headers of endpoints, whose values are stored sealed by the keyring as secrets are: they may be credentials of the receiver.
 */
import { Effect, Redacted } from "effect"
import type { Tenant } from "../shared/Tenant.ts"
import type { Endpoint, EndpointId } from "./Endpoint.ts"
import { endpointContext } from "./EndpointStore.ts"
import { type Keyring, keyIdOf, type SealedSecret, type SecretUnavailable } from "./Keyring.ts"
import { MASK, type RequestHeaders } from "./RequestHeaders.ts"

/** Most opened values that are kept. */
const MAX_OPEN_VALUES = 10_000

/** Headers as they are stored: a sealed value by the name of the header. */
export type SealedHeaders = Readonly<Record<string, SealedSecret>>

/** What the value of a header is bound to: a value that was copied to another endpoint or header can't be opened. */
export const headerContext = (tenant: Tenant, id: EndpointId, name: string): string =>
  `${endpointContext(tenant, id)}:header:${name}`

export const of = (keyring: Keyring["Service"]) => {
  // The key is the sealed value with its place, so a changed or re-encrypted value has another entry.
  const known = new Map<string, Redacted.Redacted<string>>()

  const openOne = Effect.fnUntraced(function* (sealed: SealedSecret, context: string) {
    const key = `${context} ${sealed}`
    const opened = known.get(key)
    if (opened !== undefined) return opened
    const made = yield* keyring.open(sealed, context)
    if (known.size >= MAX_OPEN_VALUES) known.clear()
    known.set(key, made)
    return made
  })

  /** Replaces each value. */
  const mapped = <E>(
    headers: Readonly<Record<string, string>>,
    tenant: Tenant,
    id: EndpointId,
    change: (value: string, context: string) => Effect.Effect<string, E>,
  ): Effect.Effect<RequestHeaders, E> =>
    Effect.map(
      Effect.forEach(Object.entries(headers), ([name, value]) =>
        Effect.map(change(value, headerContext(tenant, id, name)), (changed) => [name, changed] as const),
      ),
      Object.fromEntries,
    )

  const seal = (headers: RequestHeaders, tenant: Tenant, id: EndpointId): Effect.Effect<SealedHeaders> =>
    mapped(headers, tenant, id, (value, context) => keyring.seal(Redacted.make(value), context))

  /** The values as they are sent. Fails when the key of one is missing: without it, the receiver would refuse the request. */
  const open = (
    headers: SealedHeaders,
    tenant: Tenant,
    id: EndpointId,
  ): Effect.Effect<RequestHeaders, SecretUnavailable> =>
    mapped(headers, tenant, id, (sealed, context) => Effect.map(openOne(sealed, context), Redacted.value))

  /** An endpoint as it is shown. A value whose key is missing is masked. */
  const shown = (endpoint: Endpoint, tenant: Tenant): Effect.Effect<Endpoint> =>
    Effect.map(
      mapped(endpoint.headers, tenant, endpoint.id, (sealed, context) =>
        openOne(sealed, context).pipe(
          Effect.map(Redacted.value),
          Effect.catchTag("SecretUnavailable", () => Effect.succeed(MASK)),
        ),
      ),
      (headers) => ({ ...endpoint, headers }),
    )

  /** Seals with the first key what another one has sealed. */
  const reseal = (headers: SealedHeaders, tenant: Tenant, id: EndpointId) =>
    mapped(headers, tenant, id, (sealed, context) =>
      keyIdOf(sealed) === keyring.primaryKeyId
        ? Effect.succeed(sealed)
        : Effect.flatMap(keyring.open(sealed, context), (value) => keyring.seal(value, context)),
    )

  return { open, reseal, seal, shown }
}

export type EndpointHeaders = ReturnType<typeof of>
