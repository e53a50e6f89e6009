/**
 * Who a request acts for, and where it came from: for the audit log.
 */
import { Actor, type ApiKey, Text } from "@billwright/core"
import type { ClientOf } from "./ClientOf.ts"
import type { HttpRequest } from "./HttpExchange.ts"

/** How an IPv4 address is written on a socket that takes both kinds. */
const MAPPED = /^::ffff:(?=\d+\.)/i

/** Text of others, cut. `null` if there is none. */
const given = (text: string | undefined, maximum: number): string | null => {
  const cleaned = Text.cleaned(text ?? "", maximum)
  return cleaned === "" ? null : cleaned
}

const ipOf = (request: HttpRequest, clientOf: ClientOf): string | null =>
  given(clientOf(request)?.replace(MAPPED, ""), Actor.MAX_IP_LENGTH)

const userAgentOf = (request: HttpRequest): string | null =>
  given(request.header("user-agent"), Actor.MAX_USER_AGENT_LENGTH)

/** Where a request came from. */
export const originOf = (
  request: HttpRequest,
  clientOf: ClientOf,
  requestId: string | null,
): Pick<Actor.Actor, "ip" | "requestId" | "userAgent"> => ({
  ip: ipOf(request, clientOf),
  userAgent: userAgentOf(request),
  requestId,
})

/** The actor of a request. Most requests note nothing, so it finds out where it came from when somebody asks. */
export const make = (
  who: Pick<Actor.Actor, "id" | "role" | "type">,
  request: HttpRequest,
  clientOf: ClientOf,
  requestId: string,
): Actor.Actor => ({
  type: who.type,
  id: who.id,
  role: who.role,
  requestId,
  get ip() {
    return ipOf(request, clientOf)
  },
  get userAgent() {
    return userAgentOf(request)
  },
})

/** Who it is: the person whom the host has named, or else the key. */
export const whoOf = (
  key: ApiKey.ApiKey,
  operator: Pick<Actor.Actor, "id" | "role"> | undefined,
): Pick<Actor.Actor, "id" | "role" | "type"> =>
  operator === undefined
    ? { type: "key", id: key.id, role: null }
    : { type: "operator", id: operator.id, role: operator.role }
