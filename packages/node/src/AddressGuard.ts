/**
 * The addresses of a host, looked up once and judged before anything connects to one of them.
 */
import { isIP } from "node:net"
import { NetworkAddress, type NetworkPolicy, type TransportError } from "@billwright/core"
import type { Resolve } from "./HostLookup.ts"
import type { Target } from "./Target.ts"

/**
 * Most addresses that are tried for one connection. A name may have thousands, of somebody who never asked for
 * connections.
 */
const MAX_ADDRESSES_TRIED = 8

/**
 * The addresses to try for a target: those of its name, or the address that it names. One that is forbidden
 * forbids all of them, so that nobody gets a second try by mixing answers.
 */
export const addressesOf = async (
  { host, mode }: Target,
  policy: NetworkPolicy,
  resolve: Resolve,
): Promise<ReadonlyArray<string> | TransportError> => {
  // Here and not in `net.connect`'s `lookup`, which is not called for addresses.
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host]
  if (addresses.length === 0) return "dns_error"
  if (!addresses.every((address) => NetworkAddress.isAllowed(address, mode, policy))) return "blocked_address"
  return addresses.slice(0, MAX_ADDRESSES_TRIED)
}
