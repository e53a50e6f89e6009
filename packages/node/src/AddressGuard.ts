/**
 * Looks up the addresses of a host once, and checks them before anything connects.
 */
import { isIP } from "node:net"
import { NetworkAddress, type NetworkPolicy, type TransportError } from "@billwright/core"
import type { Resolve } from "./HostLookup.ts"
import type { Target } from "./Target.ts"

/**
 * The most addresses that are tried for one connection. A hostile name may have thousands of addresses that belong to
 * other people.
 */
const MAX_ADDRESSES_TRIED = 8

/**
 * The addresses to try for a target: those of its host name, or the address in its URL. If one of them is forbidden,
 * the target is refused, so that mixing public and private addresses doesn't help an attacker.
 */
export const addressesOf = async (
  { host, mode }: Target,
  policy: NetworkPolicy,
  resolve: Resolve,
): Promise<ReadonlyArray<string> | TransportError> => {
  // Checked here, because `net.connect` doesn't call its `lookup` for addresses.
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host]
  if (addresses.length === 0) return "dns_error"
  if (!addresses.every((address) => NetworkAddress.isAllowed(address, mode, policy))) return "blocked_address"
  return addresses.slice(0, MAX_ADDRESSES_TRIED)
}
