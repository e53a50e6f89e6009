/**
 * `NetworkAddress` beside ipaddr.js, a library that keeps the same tables: what decision 0017 measures.
 */
import { NetworkAddress } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import ipaddr from "ipaddr.js"
import { fc, holds } from "../property.ts"
import { type Block, inside, neighbours, spellings, widthOf } from "./addresses.ts"

const blockOf = ({ bits, family, prefixLength }: NetworkAddress.Network): Block => ({
  family,
  bits,
  prefixLength,
  address: spellings(family, bits)[0]!,
})
const blocksOf = (networks: ReadonlyArray<string>): ReadonlyArray<Block> =>
  networks.map((network) => blockOf(NetworkAddress.parseNetwork(network)!))

const ours = blocksOf([
  ...NetworkAddress.FORBIDDEN_IPV4,
  ...NetworkAddress.FORBIDDEN_IPV6,
  NetworkAddress.GLOBAL_UNICAST_IPV6,
])

/** Their tables, whose type is not declared: a range has one network, or a list of them. */
type Entry = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]
type Ranges = { readonly [range: string]: Entry | ReadonlyArray<Entry> }
const isEntry = (entry: Entry | ReadonlyArray<Entry>): entry is Entry => typeof entry[1] === "number"
const theirs = [ipaddr.IPv4, ipaddr.IPv6].flatMap((family) => {
  const { SpecialRanges } = family.prototype as object as { readonly SpecialRanges: Ranges }
  const entries = Object.values(SpecialRanges).flatMap((range) => (isEntry(range) ? [range] : range))
  return blocksOf(entries.map(([address, length]) => `${address.toString()}/${length}`))
})

const globalUnicast = blocksOf([NetworkAddress.GLOBAL_UNICAST_IPV6])[0]!
const within = ({ bits, prefixLength, family }: Block, address: bigint): boolean => {
  const rest = BigInt(widthOf(family) - prefixLength)
  return address >> rest === bits >> rest
}

/** Azure's host has an address in a network that is public otherwise. */
const AZURE_HOST = "168.63.129.16"

/** What they call unicast, less the two differences that are meant. */
const expected = (text: string, family: 4 | 6, bits: bigint): boolean =>
  ipaddr.parse(text).range() === "unicast" &&
  (family === 4 ? text !== AZURE_HOST : within(globalUnicast, bits))

const agree = (family: 4 | 6, bits: bigint): void => {
  const [text] = spellings(family, bits) as [string]
  assert.strictEqual(NetworkAddress.isAllowed(text, "live"), expected(text, family, bits), text)
}

/** `::192.0.2.1` is an address of `::/96` (RFC 4291, section 2.5.5.1), and a mapped one to ipaddr.js. */
const COMPATIBLE = /^::\d+\.\d+/

const bitsOf = (text: string): bigint =>
  BigInt(`0x${Buffer.from(ipaddr.parse(text).toByteArray()).toString("hex")}`)

const anyAddress = (family: 4 | 6) => fc.bigInt({ min: 0n, max: (1n << BigInt(widthOf(family))) - 1n })

describe("NetworkAddress and ipaddr.js", () => {
  for (const { address, bits, family, prefixLength } of [...ours, ...theirs]) {
    it(`agree at the edges of ${address}/${prefixLength}, and within`, () => {
      const block = { address, bits, family, prefixLength }
      const last = bits + (1n << BigInt(widthOf(family) - prefixLength)) - 1n
      for (const edge of [bits, last, ...neighbours(block)]) agree(family, edge)
      holds([inside(block)], (some) => agree(family, some), 50)
    })
  }

  for (const family of [4, 6] as const) {
    it(`agree on any address of IPv${family}`, () =>
      holds([anyAddress(family)], (bits) => agree(family, bits), 2_000))
  }

  it("agree on any address of global unicast", () =>
    holds([inside(globalUnicast)], (bits) => agree(6, bits), 2_000))

  it("read the same bits, in all spellings but one", () =>
    holds(
      [fc.constantFrom<4 | 6>(4, 6).chain((family) => anyAddress(family).map((bits) => ({ family, bits })))],
      ({ bits, family }) => {
        for (const text of spellings(family, bits)) {
          if (COMPATIBLE.test(text)) continue
          assert.strictEqual(NetworkAddress.parse(text)?.bits, bitsOf(text), text)
        }
      },
      200,
    ))

  it("differ outside of global unicast, where nothing is assigned: unicast there, forbidden here", () => {
    for (const text of ["4000::1", "1fff::1", "f000::1", "a000::1", "::2:0:0:0"]) {
      assert.strictEqual(ipaddr.parse(text).range(), "unicast")
      assert.isFalse(NetworkAddress.isAllowed(text, "live"))
    }
  })

  it("differ in metadata services with a public address", () => {
    const unicast = NetworkAddress.METADATA_ADDRESSES.filter(
      (text) => ipaddr.parse(text).range() === "unicast",
    )
    assert.deepStrictEqual(unicast, [AZURE_HOST])
    assert.isFalse(NetworkAddress.isAllowed(AZURE_HOST, "live"))
  })

  it("differ in a spelling: IPv4-compatible addresses are mapped ones to ipaddr.js", () => {
    assert.strictEqual(NetworkAddress.parse("::192.0.2.1")?.bits, 0xc000_0201n)
    assert.strictEqual(bitsOf("::192.0.2.1"), bitsOf("::ffff:192.0.2.1"))
  })

  it("differ in what they read: ipaddr.js takes more for an address", () => {
    for (const text of ["010.0.0.1", "0x7f.1", "127.1", "2130706433", "::1%eth0"]) {
      assert.isTrue(ipaddr.isValid(text), text)
      assert.isUndefined(NetworkAddress.parse(text), text)
    }
  })
})
