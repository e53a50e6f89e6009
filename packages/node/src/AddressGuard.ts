/**
 * The addresses of a host, looked up once and judged before anything connects to one of them.
 */
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { NetworkAddress, type NetworkPolicy, type TransportError } from "@billwright/core"
import type { Target } from "./Target.ts"

/**
 * Most addresses that are tried for one connection. A name may have thousands, of somebody who never asked for
 * connections.
 */
const MAX_ADDRESSES_TRIED = 8

/** Gives all addresses of a host name, as text. Rejects, or gives none, when there is none. */
export type Resolve = (host: string) => Promise<ReadonlyArray<string>>

/** As the operating system does it, `/etc/hosts` included. */
export const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * Shares a look-up between all who ask while it is under way: the system's occupies a thread of the few that Node
 * has, and a name whose server is silent would take them all.
 */
export const shared = (resolve: Resolve): Resolve => {
  const underWay = new Map<string, Promise<ReadonlyArray<string>>>()
  return (host) => {
    const joined = underWay.get(host)
    if (joined !== undefined) return joined
    const started = Promise.resolve()
      .then(() => resolve(host))
      .finally(() => underWay.delete(host))
    underWay.set(host, started)
    return started
  }
}

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
