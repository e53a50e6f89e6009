/**
 * IP addresses as text, and which of them webhooks may be sent to.
 *
 * A receiver's URL comes from outside. Sending to it means that a stranger can make requests from inside the sender's
 * network. So only public addresses are allowed, and every network that the registries of IANA call special is
 * forbidden. The tables are those of
 * https://www.iana.org/assignments/iana-ipv4-special-registry and
 * https://www.iana.org/assignments/iana-ipv6-special-registry, with multicast and the reserved classes.
 */
import { Effect } from "effect"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { Mode } from "../shared/Tenant.ts"

/** An IP address of 32 (IPv4) or 128 bits (IPv6). */
export interface NetworkAddress {
  readonly family: 4 | 6
  /** The bits as an unsigned number. */
  readonly bits: bigint
}

/** All addresses that begin with the same bits, such as `10.0.0.0/8`. */
export interface Network extends NetworkAddress {
  /** How many leading bits they share, 0 to 32 or 128. */
  readonly prefixLength: number
}

/** A host's changes to the rules. Made by `makePolicy`. */
export interface NetworkPolicy {
  readonly allowed: ReadonlyArray<Network>
  readonly allowsLoopback: boolean
  readonly decodesNat64: boolean
}

export interface NetworkPolicyOptions {
  /**
   * Networks that are allowed in addition to public addresses, in both modes: `["10.20.0.0/16", "fd00:7::/64"]`.
   * An entry allows addresses of its own family only: `10.0.0.0/8` does not allow `::ffff:10.0.0.0/104`.
   * `METADATA_ADDRESSES` stay forbidden.
   */
  readonly allow?: ReadonlyArray<string>
  /**
   * Whether webhooks of test mode may go to this machine: `127.0.0.0/8`, `::1` and `localhost`. For trials and
   * development. Anyone who can create endpoints can then read the answers of services on this machine, because
   * deliveries record them. Live mode is not affected. Default `false`.
   */
  readonly allowLoopback?: boolean
  /**
   * Checks an address of `64:ff9b::/96` (RFC 6052) by the IPv4 address inside it. Only for hosts that reach IPv4
   * by NAT64. Without this option such addresses are forbidden. Default `false`.
   */
  readonly decodeNat64?: boolean
}

const WIDTH = { 4: 32, 6: 128 } as const
const IPV4_PART = /^(?:0|[1-9][0-9]{0,2})$/
const IPV6_GROUP = /^[0-9a-f]{1,4}$/i
const PREFIX_LENGTH = /^(?:0|[1-9][0-9]{0,2})$/

const parseIpv4 = (text: string): bigint | undefined => {
  const parts = text.split(".")
  if (parts.length !== 4) return undefined
  let bits = 0
  for (const part of parts) {
    // Refuses `010`, which some parsers read as 8 and others as 10.
    if (!IPV4_PART.test(part) || Number(part) > 255) return undefined
    bits = bits * 256 + Number(part)
  }
  return BigInt(bits)
}

/** The groups on one side of `::`. An IPv4 address at the end counts as two groups. */
const parseGroups = (text: string, mayEndDotted: boolean): ReadonlyArray<number> | undefined => {
  if (text === "") return []
  const groups: Array<number> = []
  const parts = text.split(":")
  for (const [index, part] of parts.entries()) {
    if (IPV6_GROUP.test(part)) groups.push(Number.parseInt(part, 16))
    else {
      const dotted = mayEndDotted && index === parts.length - 1 ? parseIpv4(part) : undefined
      if (dotted === undefined) return undefined
      groups.push(Number(dotted >> 16n), Number(dotted & 0xffffn))
    }
  }
  return groups
}

const parseIpv6 = (text: string): bigint | undefined => {
  const sides = text.split("::")
  if (sides.length > 2) return undefined
  const [left, right] = sides
  const head = parseGroups(left!, right === undefined)
  const tail = right === undefined ? [] : parseGroups(right, true)
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  // `::` stands for at least one group (RFC 4291, section 2.2).
  if (right === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail]
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(group), 0n)
}

/**
 * Reads an address: four decimal numbers, or a form of RFC 4291 (section 2.2), in upper or lower case, also with `::`
 * and with an IPv4 address at the end. Gives `undefined` for any other text, such as one with a zone id
 * (`fe80::1%eth0`), brackets or other notations of numbers.
 */
export const parse = (text: string): NetworkAddress | undefined => {
  const family = text.includes(":") ? 6 : 4
  const bits = family === 6 ? parseIpv6(text) : parseIpv4(text)
  return bits === undefined ? undefined : { family, bits }
}

/** The same, but an IPv4 address that is written as an IPv6 one (`::ffff:203.0.113.7`) gives the IPv4 address. */
export const parseUnmapped = (text: string): NetworkAddress | undefined => {
  const address = parse(text)
  const isMapped = address?.family === 6 && address.bits >> 32n === 0xffffn
  return isMapped ? { family: 4, bits: address.bits & 0xffff_ffffn } : address
}

/** Reads a network in CIDR notation. Gives `undefined` for other text, or when bits after the prefix are set. */
export const parseNetwork = (text: string): Network | undefined => {
  const slash = text.lastIndexOf("/")
  const address = slash === -1 ? undefined : parse(text.slice(0, slash))
  const digits = text.slice(slash + 1)
  if (address === undefined || !PREFIX_LENGTH.test(digits)) return undefined
  const network = { ...address, prefixLength: Number(digits) }
  if (network.prefixLength > WIDTH[network.family]) return undefined
  const rest = BigInt(WIDTH[network.family] - network.prefixLength)
  return (network.bits >> rest) << rest === network.bits ? network : undefined
}

/** Whether an address is in a network. Both must be of one family: `::ffff:10.0.0.1` is not in `10.0.0.0/8`. */
export const contains = (network: Network, address: NetworkAddress): boolean => {
  if (network.family !== address.family) return false
  const rest = BigInt(WIDTH[network.family] - network.prefixLength)
  return network.bits >> rest === address.bits >> rest
}

const table = (networks: ReadonlyArray<string>) => networks.map((network) => parseNetwork(network)!)

/** IPv4 networks that are not public. */
export const FORBIDDEN_IPV4: ReadonlyArray<string> = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private use
  "100.64.0.0/10", // shared by a provider's customers
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, and the metadata services of clouds
  "172.16.0.0/12", // private use
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // AMT
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16", // private use
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
]

/** The only IPv6 network that holds public addresses: global unicast. */
export const GLOBAL_UNICAST_IPV6 = "2000::/3"

/** IPv6 networks within global unicast that are not public. */
export const FORBIDDEN_IPV6: ReadonlyArray<string> = [
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: contains IPv4 addresses
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
]

const forbiddenIpv4 = table(FORBIDDEN_IPV4)
const forbiddenIpv6 = table(FORBIDDEN_IPV6)
const [globalUnicast, nat64] = table([GLOBAL_UNICAST_IPV6, "64:ff9b::/96"]) as [Network, Network]
const loopback = table(["127.0.0.0/8", "::1/128"])

/**
 * The addresses where clouds give a machine its configuration and credentials, without authentication. No policy allows
 * these addresses, or IPv6 addresses that contain one of the IPv4 addresses.
 */
export const METADATA_ADDRESSES: ReadonlyArray<string> = [
  "169.254.169.254", // AWS, Azure, Google, Oracle, DigitalOcean and most others
  "169.254.170.2", // AWS: credentials of containers
  "169.254.170.23", // AWS: credentials of pods
  "169.254.42.42", // Scaleway
  "169.254.0.23", // Tencent
  "100.100.100.200", // Alibaba
  "168.63.129.16", // Azure: the host that the machine runs on
  "192.0.0.192", // Oracle, the older one
  "fd00:ec2::254", // AWS
  "fd00:ec2::23", // AWS: credentials of pods
  "fd20:ce::254", // Google
  "fd00:42::42", // Scaleway
  "fe80::a9fe:a9fe", // OpenStack
]

const metadata = METADATA_ADDRESSES.map((text) => parse(text)!)
const metadataIpv4 = new Set(metadata.filter(({ family }) => family === 4).map(({ bits }) => bits))
const metadataIpv6 = new Set(metadata.filter(({ family }) => family === 6).map(({ bits }) => bits))

/**
 * How many bits follow an embedded IPv4 address, once bits 64 to 71 are left out: after prefixes of 16 (6to4), 32, 40,
 * 48, 56 and 64 bits, and at the end (RFC 3056, RFC 6052).
 */
const EMBEDDED_SHIFTS: ReadonlyArray<bigint> = [72n, 56n, 48n, 40n, 32n, 24n, 0n]
const LOW_32 = (1n << 32n) - 1n
const LOW_56 = (1n << 56n) - 1n

const embedsMetadata = (bits: bigint): boolean => {
  const withoutReserved = ((bits >> 64n) << 56n) | (bits & LOW_56)
  return EMBEDDED_SHIFTS.some((shift) => metadataIpv4.has((withoutReserved >> shift) & LOW_32))
}

const isMetadata = ({ bits, family }: NetworkAddress): boolean =>
  family === 4 ? metadataIpv4.has(bits) : metadataIpv6.has(bits) || embedsMetadata(bits)

/** The rules without changes: only public addresses, no loopback, no NAT64. */
export const strictPolicy: NetworkPolicy = { allowed: [], allowsLoopback: false, decodesNat64: false }

const isSingleAddress = ({ family, prefixLength }: Network): boolean => prefixLength === WIDTH[family]

const problemOfAllowed = (text: string, network: Network | undefined): string | undefined => {
  if (network === undefined) {
    return `must be a network such as 10.20.0.0/16 or fd00:7::/64, with no bits set after its prefix, not ${JSON.stringify(text)}`
  }
  return isSingleAddress(network) && isMetadata(network)
    ? `must not be ${text}: it is the address of a cloud's metadata service, which can't be allowed`
    : undefined
}

/**
 * Makes a policy. Fails with `InvalidInput` of the first entry (`allow[2]`) that is not a network, or that is one of
 * `METADATA_ADDRESSES`.
 */
export const makePolicy = Effect.fnUntraced(function* (
  options: NetworkPolicyOptions = {},
): Effect.fn.Return<NetworkPolicy, InvalidInput> {
  const allowed: Array<Network> = []
  for (const [index, text] of (options.allow ?? []).entries()) {
    const network = parseNetwork(text)
    const problem = problemOfAllowed(text, network)
    if (problem !== undefined) return yield* new InvalidInput({ field: `allow[${index}]`, problem })
    allowed.push(network!)
  }
  return {
    allowed,
    allowsLoopback: options.allowLoopback ?? false,
    decodesNat64: options.decodeNat64 ?? false,
  }
})

const isLoopback = (address: NetworkAddress): boolean =>
  loopback.some((network) => contains(network, address))

const isPublic = (address: NetworkAddress): boolean =>
  address.family === 4
    ? !forbiddenIpv4.some((network) => contains(network, address))
    : contains(globalUnicast, address) && !forbiddenIpv6.some((network) => contains(network, address))

/**
 * Whether webhooks of a mode may be sent to an address. Allowed are public addresses and those that the policy allows;
 * in test mode also loopback (`127.0.0.0/8` and `::1`) where the policy allows it. `METADATA_ADDRESSES` are never
 * allowed. IPv6 addresses that contain an IPv4 address, such as mapped ones (`::ffff:0:0/96`), are not public. Gives
 * `false` for text that is not an address.
 */
export const isAllowed = (text: string, mode: Mode, policy: NetworkPolicy = strictPolicy): boolean => {
  const address = parse(text)
  return address !== undefined && isAllowedAddress(address, mode, policy)
}

const isAllowedAddress = (address: NetworkAddress, mode: Mode, policy: NetworkPolicy): boolean => {
  if (isMetadata(address)) return false
  if (policy.allowed.some((network) => contains(network, address))) return true
  if (mode === "test" && policy.allowsLoopback && isLoopback(address)) return true
  if (policy.decodesNat64 && contains(nat64, address)) {
    // Checked by the rules of live mode, because a loopback address can't be reached through a NAT64 gateway.
    return isAllowedAddress({ family: 4, bits: address.bits & 0xffff_ffffn }, "live", policy)
  }
  return isPublic(address)
}
