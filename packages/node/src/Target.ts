/**
 * Where a request goes, after its URL was judged.
 */
import { EndpointUrl, type NetworkPolicy, type Tenant } from "@billwright/core"
import { Result } from "effect"

export interface Target {
  readonly mode: Tenant.Mode
  /** A name or an address, the latter without brackets. */
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** `https://example.com:8443`. */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  /** What connections are shared by. Modes share none: what one may speak to, the other may not. */
  readonly key: string
}

/** `undefined` when the rules of the mode forbid the URL. */
export const make = (url: string, mode: Tenant.Mode, policy: NetworkPolicy): Target | undefined => {
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
