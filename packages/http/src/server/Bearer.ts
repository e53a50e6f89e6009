/**
 * Verifies the API key of a request, which it sends with the scheme Bearer (RFC 6750).
 */
import {
  ApiKey,
  type ApiKeys,
  ApiKeySecret,
  ClientAddress,
  type StorageError,
  type VerifiedApiKey,
} from "@billwright/core"
import { Effect, Redacted } from "effect"
import type { ClientOf } from "./ClientOf.ts"
import type { HttpRequest } from "./HttpExchange.ts"

/** Returns the verified key, or fails when the key is not valid. Each run verifies it again. */
export type Verify = Effect.Effect<VerifiedApiKey, ApiKey.Unauthorized | StorageError>

interface Known {
  readonly header: string
  readonly verify: Verify
}

/** The longest header that is cached. All secrets of API keys are shorter. */
const MAX_KNOWN_LENGTH = 128

const UNAUTHORIZED = Effect.suspend(() => Effect.fail(new ApiKey.Unauthorized()))

/**
 * Makes the verifier. The requests of a connection usually carry the same key, so the key's text is parsed and
 * hashed only once. The result is cached until the connection ends or another key comes.
 */
export const make = (keys: ApiKeys["Service"], clientOf: ClientOf): ((request: HttpRequest) => Verify) => {
  const from = (request: HttpRequest, verify: Verify): Verify =>
    Effect.provideService(verify, ClientAddress, () => clientOf(request))
  const lastOf = new WeakMap<object, Known>()
  return (request) => {
    const { connection, header: headerOf } = request
    const header = headerOf("authorization")
    if (header === undefined) return UNAUTHORIZED
    const last = connection && lastOf.get(connection)
    // Compared in constant time: a proxy may send the requests of many clients over one connection.
    if (last !== undefined && ApiKeySecret.isSameDigest(last.header, header))
      return from(request, last.verify)
    const text = /^Bearer +(\S+) *$/i.exec(header)?.[1]
    if (text === undefined) return UNAUTHORIZED
    const verify = keys.verify(Redacted.make(text))
    if (connection !== undefined && header.length <= MAX_KNOWN_LENGTH)
      lastOf.set(connection, { header, verify })
    return from(request, verify)
  }
}
