/**
 * Whose key a request carries, by the scheme Bearer (RFC 6750).
 */
import { ApiKey, type ApiKeys, ApiKeySecret, type StorageError, type VerifiedApiKey } from "@billwright/core"
import { Effect, Redacted } from "effect"
import type { HttpRequest } from "./HttpExchange.ts"

/** Says whose key it is, or that it is nobody's any more: asked anew at each run. */
export type Verify = Effect.Effect<VerifiedApiKey, ApiKey.Unauthorized | StorageError>

interface Known {
  readonly header: string
  readonly verify: Verify
}

/** Longest header that is remembered: our secrets are shorter. */
const MAX_KNOWN_LENGTH = 128

const UNAUTHORIZED = Effect.suspend(() => Effect.fail(new ApiKey.Unauthorized()))

/**
 * Makes the reader. Requests of a connection mostly carry the same key: what can be worked out from its text is worked
 * out once, and forgotten with the connection or at another key.
 */
export const make = (keys: ApiKeys["Service"]): ((request: HttpRequest) => Verify) => {
  const lastOf = new WeakMap<object, Known>()
  return ({ connection, header: headerOf }) => {
    const header = headerOf("authorization")
    if (header === undefined) return UNAUTHORIZED
    const last = connection && lastOf.get(connection)
    // In a time that tells nothing of it: a proxy may send the requests of many by one connection.
    if (last !== undefined && ApiKeySecret.isSameDigest(last.header, header)) return last.verify
    const text = /^Bearer +(\S+) *$/i.exec(header)?.[1]
    if (text === undefined) return UNAUTHORIZED
    const verify = keys.verify(Redacted.make(text))
    if (connection !== undefined && header.length <= MAX_KNOWN_LENGTH)
      lastOf.set(connection, { header, verify })
    return verify
  }
}
