/**
 * The target of a request, whose URL has been checked.
 */
import { EndpointUrl, type NetworkPolicy, type Tenant } from "@billwright/core"
import { Result } from "effect"

export interface Target {
  readonly mode: Tenant.Mode
  /** A host name or an IP address, without brackets. */
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** `https://example.com:8443`. */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  /**
   * Requests with the same key share connections. The two modes don't share connections, because their rules for
   * addresses differ.
   */
  readonly key: string
}

/** The most URLs whose result is cached for each mode. A result never changes. */
const MAX_KNOWN = 1_000

/** Returns a function that checks URLs. It returns `undefined` if the rules of the mode forbid the URL. */
export const judge = (policy: NetworkPolicy): ((url: string, mode: Tenant.Mode) => Target | undefined) => {
  const known = { live: new Map<string, Target | undefined>(), test: new Map<string, Target | undefined>() }
  return (url, mode) => {
    const judged = known[mode]
    if (!judged.has(url)) {
      if (judged.size >= MAX_KNOWN) judged.clear()
      judged.set(url, make(url, mode, policy))
    }
    return judged.get(url)
  }
}

const make = (url: string, mode: Tenant.Mode, policy: NetworkPolicy): Target | undefined => {
  const parsed = EndpointUrl.parse(url, mode, policy)
  if (Result.isFailure(parsed)) return undefined
  const { origin, pathname, protocol, search } = parsed.success
  return {
    mode,
    host: EndpointUrl.hostOf(parsed.success),
    port: EndpointUrl.portOf(parsed.success),
    isTls: protocol === "https:",
    origin,
    path: pathname + search,
    key: `${mode} ${origin}`,
  }
}
