/**
 * The key that a request carries, by the scheme Bearer (RFC 6750).
 */
import { ApiKey, type ApiKeys } from "@billwright/core"
import { Effect, Exit, Redacted } from "effect"
import type { HttpRequest } from "./HttpExchange.ts"

export interface Bearer {
  readonly secret: Redacted.Redacted<string>
  /** Whose it is, asked anew each time. */
  readonly verify: ReturnType<ApiKeys["Service"]["verify"]>
}

interface Known {
  readonly header: string
  readonly bearer: Exit.Exit<Bearer>
}

/** Compares in time that depends on the length alone: a proxy may send the requests of many by one connection. */
const isSame = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/**
 * Makes the reader. Requests of a connection mostly carry the same key: what can be worked out from its text is worked
 * out once, and forgotten with the connection or at another key.
 */
export const make = (
  keys: ApiKeys["Service"],
): ((request: HttpRequest) => Effect.Effect<Bearer, ApiKey.Unauthorized>) => {
  const lastOf = new WeakMap<object, Known>()
  return ({ connection, header: headerOf }) => {
    const header = headerOf("authorization")
    if (header === undefined) return Effect.fail(new ApiKey.Unauthorized())
    const last = connection && lastOf.get(connection)
    if (last !== undefined && isSame(last.header, header)) return last.bearer
    const text = /^Bearer +(\S+) *$/i.exec(header)?.[1]
    if (text === undefined) return Effect.fail(new ApiKey.Unauthorized())
    const secret = Redacted.make(text)
    const bearer = Exit.succeed({ secret, verify: keys.verify(secret) })
    if (connection !== undefined) lastOf.set(connection, { header, bearer })
    return bearer
  }
}
