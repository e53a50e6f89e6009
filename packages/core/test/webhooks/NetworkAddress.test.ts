import { BlockList, isIP } from "node:net"
import { NetworkAddress } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fc, holds } from "../property.ts"
import { block4, block6, type Block, inside, neighbours, spellings, widthOf } from "./addresses.ts"

// Written down again, and judged by Node: a slip in the tables or in the arithmetic shows.
const FORBIDDEN_4 = [
  block4([0, 0, 0, 0], 8),
  block4([10, 0, 0, 0], 8),
  block4([100, 64, 0, 0], 10),
  block4([127, 0, 0, 0], 8),
  block4([169, 254, 0, 0], 16),
  block4([172, 16, 0, 0], 12),
  block4([192, 0, 0, 0], 24),
  block4([192, 0, 2, 0], 24),
  block4([192, 31, 196, 0], 24),
  block4([192, 52, 193, 0], 24),
  block4([192, 88, 99, 0], 24),
  block4([192, 168, 0, 0], 16),
  block4([192, 175, 48, 0], 24),
  block4([198, 18, 0, 0], 15),
  block4([198, 51, 100, 0], 24),
  block4([203, 0, 113, 0], 24),
  block4([224, 0, 0, 0], 4),
  block4([240, 0, 0, 0], 4),
]
const GLOBAL_6 = block6([0x2000], 3)
const FORBIDDEN_6 = [
  block6([0x2001], 23),
  block6([0x2001, 0xdb8], 32),
  block6([0x2002], 16),
  block6([0x2620, 0x4f, 0x8000], 48),
  block6([0x3fff], 20),
]
/** Outside of global unicast, so forbidden, and what attackers try. */
const TRICKS_6 = [
  block6([], 96), // compatible: ::127.0.0.1
  block6([0, 0, 0, 0, 0, 0xffff], 96), // mapped
  block6([0, 0, 0, 0, 0xffff, 0], 96), // translated
  block6([0x64, 0xff9b], 96), // NAT64
  block6([0x64, 0xff9b, 1], 48), // NAT64, local
  block6([0x100], 64), // discard
  block6([0x5f00], 16), // segment routing
  block6([0xfc00], 7), // unique local
  block6([0xfe80], 10), // link-local
  block6([0xfec0], 10), // site-local
  block6([0xff00], 8), // multicast
]
const NAT64 = TRICKS_6[3]!
const LOOPBACK = [block4([127, 0, 0, 0], 8), block6([0, 0, 0, 0, 0, 0, 0, 1], 128)]

const blockList = (blocks: ReadonlyArray<Block>) => {
  const list = new BlockList()
  for (const { address, family, prefixLength } of blocks) {
    list.addSubnet(address, prefixLength, family === 4 ? "ipv4" : "ipv6")
  }
  return list
}
const forbidden4 = blockList(FORBIDDEN_4)
const forbidden6 = blockList(FORBIDDEN_6)
const global6 = blockList([GLOBAL_6])

/** Node's judgement. */
const isPublic = (text: string): boolean =>
  isIP(text) === 4
    ? !forbidden4.check(text, "ipv4")
    : global6.check(text, "ipv6") && !forbidden6.check(text, "ipv6")

/** Their own rule, tested on its own; random addresses hardly ever meet one. */
const isMetadata = (text: string): boolean => {
  const { bits } = NetworkAddress.parse(text)!
  return NetworkAddress.METADATA_ADDRESSES.some((known) => NetworkAddress.parse(known)!.bits === bits)
}

const all = (family: 4 | 6) => fc.bigInt({ min: 0n, max: (1n << BigInt(widthOf(family))) - 1n })
const everyBlock = [...FORBIDDEN_4, GLOBAL_6, ...FORBIDDEN_6, ...TRICKS_6]
const addresses: fc.Arbitrary<{ readonly family: 4 | 6; readonly bits: bigint }> = fc.oneof(
  ...([4, 6] as const).map((family) => all(family).map((bits) => ({ family, bits }))),
  fc.constantFrom(...everyBlock).chain((block) =>
    fc.oneof(inside(block), fc.constantFrom(...neighbours(block))).map((bits) => ({
      family: block.family,
      bits,
    })),
  ),
)
const policyOf = (options: NetworkAddress.NetworkPolicyOptions) =>
  Effect.runSync(NetworkAddress.makePolicy(options))

describe("reading an address", () => {
  it("reads all spellings as the same bits", () =>
    holds(
      [addresses],
      ({ bits, family }) => {
        for (const text of spellings(family, bits)) {
          assert.notStrictEqual(isIP(text), 0, `the test spells ${text} wrongly`)
          assert.deepStrictEqual(NetworkAddress.parse(text), { family, bits }, text)
        }
      },
      1_000,
    ))

  it("refuses what Node refuses, and reads what it reads but for zone ids", () =>
    holds(
      [
        addresses.chain(({ bits, family }) => fc.constantFrom(...spellings(family, bits))),
        fc.nat({ max: 45 }),
        fc.nat({ max: 3 }),
        fc.string({ unit: fc.constantFrom(..."0123456789abcdfF:.%gx [/"), maxLength: 3 }),
      ],
      (text, index, removed, added) => {
        const changed = text.slice(0, index) + added + text.slice(index + removed)
        const family = changed.includes("%") ? 0 : isIP(changed)
        assert.strictEqual(NetworkAddress.parse(changed)?.family ?? 0, family, changed)
      },
      5_000,
    ))

  for (const text of [
    "",
    "127.1",
    "0177.0.0.1",
    "127.0.0.01",
    "0x7f.0.0.1",
    "2130706433",
    "256.0.0.1",
    "1.2.3.4.5",
    "1.2.3.4 ",
    "١.1.1.1",
    "fe80::1%eth0",
    "fe80::1%251",
    "[::1]",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::8",
    "::1.2.3",
    "1.2.3.4::",
    "::1.2.3.4:5",
    "::00001",
    "::g",
    "localhost",
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.isUndefined(NetworkAddress.parse(text)))
  }
})

describe("judging an address", () => {
  it("agrees with Node on the tables, in all spellings", () =>
    holds(
      [addresses],
      ({ bits, family }) => {
        for (const text of spellings(family, bits)) {
          const expected = isPublic(text) && !isMetadata(text)
          assert.strictEqual(NetworkAddress.isAllowed(text, "live"), expected, text)
        }
      },
      1_500,
    ))

  for (const block of [...FORBIDDEN_4, ...FORBIDDEN_6, ...TRICKS_6]) {
    it(`forbids all of ${block.address}/${block.prefixLength}`, () =>
      holds([inside(block)], (bits) => {
        for (const text of spellings(block.family, bits)) {
          assert.isFalse(NetworkAddress.isAllowed(text, "live"), text)
        }
      }))
  }

  it("lets public ones through", () => {
    for (const text of [
      "1.1.1.1",
      "9.255.255.255",
      "11.0.0.0",
      "223.255.255.255",
      "2606:4700::1111",
      "2400::",
    ]) {
      assert.isTrue(NetworkAddress.isAllowed(text, "live"), text)
    }
  })

  it("forbids loopback in test mode, too, unless the policy allows it", () =>
    holds(
      [fc.constantFrom(...LOOPBACK).chain((block) => inside(block).map((bits) => ({ ...block, bits })))],
      (at) => {
        for (const text of spellings(at.family, at.bits)) {
          assert.isFalse(NetworkAddress.isAllowed(text, "test"), text)
        }
      },
    ))

  it("opens loopback and nothing else in test mode, where the policy allows it", () =>
    holds(
      [fc.oneof(addresses, ...LOOPBACK.map((block) => inside(block).map((bits) => ({ ...block, bits }))))],
      ({ bits, family }) => {
        const [text] = spellings(family, bits) as [string]
        const isLoopback = blockList(LOOPBACK.filter((block) => block.family === family)).check(
          text,
          `ipv${family}`,
        )
        const policy = policyOf({ allowLoopback: true })
        const expected = (isLoopback || isPublic(text)) && !isMetadata(text)
        assert.strictEqual(NetworkAddress.isAllowed(text, "test", policy), expected, text)
        if (isLoopback) assert.isFalse(NetworkAddress.isAllowed(text, "live", policy), text)
      },
      2_000,
    ))

  it("refuses text that is no address in both modes", () => {
    const policy = policyOf({ allow: ["0.0.0.0/0", "::/0"] })
    for (const text of ["localhost", "", "::1%lo", "127.1"]) {
      assert.isFalse(NetworkAddress.isAllowed(text, "live", policy))
      assert.isFalse(NetworkAddress.isAllowed(text, "test", policy))
    }
  })
})

/** Where an IPv4 address stands in an IPv6 address: RFC 6052 by the length of its prefix, and 6to4. */
const embedded = (ipv4: string): ReadonlyArray<string> => {
  const [a, b, c, d] = ipv4.split(".").map((part) => Number(part).toString(16).padStart(2, "0")) as [
    string,
    string,
    string,
    string,
  ]
  return [
    `::ffff:${ipv4}`,
    `::${ipv4}`,
    `::ffff:0:${ipv4}`,
    `64:ff9b::${ipv4}`,
    `2001:db8:1:2:3:4:${a}${b}:${c}${d}`,
    `64:ff9b:1:${a}${b}:${c}:${d}00::`,
    `2001:db8:${a}${b}:${c}${d}::1`,
    `2001:db8:1${a}:${b}${c}:${d}::`,
    `2001:db8:1:1${a}:${b}:${c}${d}::`,
    `2001:db8:1:2:${a}:${b}${c}:${d}00:0`,
    `2002:${a}${b}:${c}${d}::1`,
  ]
}

/** The policies that open as much as there is. */
const OPEN = [
  { allow: ["0.0.0.0/0", "::/0"] },
  { allow: ["0.0.0.0/0", "::/0"], allowLoopback: true, decodeNat64: true },
  { allow: ["169.254.0.0/16", "100.64.0.0/10", "168.63.129.0/24", "fd00:ec2::/32", "fe80::/10"] },
]

describe("a metadata service of a cloud", () => {
  it("is known, whichever of these clouds has it", () => {
    // Written once more, so that none gets lost.
    assert.sameMembers(
      [...NetworkAddress.METADATA_ADDRESSES],
      [
        "100.100.100.200",
        "168.63.129.16",
        "169.254.0.23",
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "169.254.42.42",
        "192.0.0.192",
        "fd00:42::42",
        "fd00:ec2::23",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::a9fe:a9fe",
      ],
    )
  })

  for (const text of NetworkAddress.METADATA_ADDRESSES) {
    it(`is refused by every policy, in both modes, in all spellings: ${text}`, () => {
      const address = NetworkAddress.parse(text)
      assert.isDefined(address)
      const all = [
        ...spellings(address.family, address.bits),
        ...(address.family === 4 ? embedded(text) : []),
      ]
      for (const spelling of all) {
        assert.isDefined(NetworkAddress.parse(spelling), spelling)
        for (const options of OPEN) {
          for (const mode of ["live", "test"] as const) {
            assert.isFalse(NetworkAddress.isAllowed(spelling, mode, policyOf(options)), spelling)
          }
        }
      }
    })

    it.effect(`can't be allowed by itself: ${text}`, () =>
      Effect.gen(function* () {
        const entry = `${text}/${text.includes(":") ? 128 : 32}`
        const { field, problem } = yield* Effect.flip(NetworkAddress.makePolicy({ allow: [entry] }))
        assert.strictEqual(field, "allow[0]")
        assert.include(problem, "metadata service")
      }),
    )
  }

  it("leaves its neighbours to the policy", () => {
    const policy = policyOf(OPEN[0]!)
    for (const text of ["169.254.169.253", "168.63.129.17", "fd00:ec2::255", "::ffff:169.254.169.253"]) {
      assert.isTrue(NetworkAddress.isAllowed(text, "live", policy), text)
    }
    assert.isTrue(NetworkAddress.isAllowed("168.63.129.17", "live"))
  })
})

describe("a policy", () => {
  it("opens the networks that it allows, of their own family alone, in both modes", () =>
    holds(
      [fc.constantFrom(...FORBIDDEN_4, ...FORBIDDEN_6, ...TRICKS_6), addresses],
      (block, { bits, family }) => {
        const policy = policyOf({ allow: [`${block.address}/${block.prefixLength}`] })
        const list = blockList([block])
        const [text] = spellings(family, bits) as [string]
        const isOpened = family === block.family && list.check(text, `ipv${family}`)
        const expected = (isOpened || isPublic(text)) && !isMetadata(text)
        assert.strictEqual(NetworkAddress.isAllowed(text, "live", policy), expected, text)
      },
      2_000,
    ))

  it("opens single addresses, and whole families", () => {
    const one = policyOf({ allow: ["10.0.0.7/32", "fd00::7/128"] })
    const isOpen = (text: string) => NetworkAddress.isAllowed(text, "live", one)
    assert.deepStrictEqual(["10.0.0.6", "10.0.0.7", "10.0.0.8"].map(isOpen), [false, true, false])
    assert.deepStrictEqual(["fd00::6", "fd00::7", "fd00::8", "::10.0.0.7", "::ffff:10.0.0.7"].map(isOpen), [
      false,
      true,
      false,
      false,
      false,
    ])
    assert.isTrue(NetworkAddress.isAllowed("10.0.0.7", "test", one))
    assert.isTrue(NetworkAddress.isAllowed("255.255.255.255", "live", policyOf({ allow: ["0.0.0.0/0"] })))
    assert.isFalse(NetworkAddress.isAllowed("::1", "live", policyOf({ allow: ["0.0.0.0/0"] })))
  })

  it("judges NAT64 by the IPv4 address inside when it is told to", () =>
    holds(
      [fc.oneof(all(4), fc.constantFrom(...FORBIDDEN_4).chain(inside))],
      (bits) => {
        const text = spellings(4, bits)[0]!
        for (const synthesized of spellings(6, NAT64.bits + bits)) {
          assert.isFalse(NetworkAddress.isAllowed(synthesized, "live"))
          for (const mode of ["live", "test"] as const) {
            const policy = policyOf({ decodeNat64: true, allow: ["10.1.0.0/16"] })
            const expected = isPublic(text) || text.startsWith("10.1.")
            assert.strictEqual(NetworkAddress.isAllowed(synthesized, mode, policy), expected, synthesized)
          }
        }
      },
      150,
    ))

  for (const entry of [
    "10.0.0.1/8",
    "10.0.0.0",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10/8",
    "::/129",
    "fd00::1/64",
    "fe80::%1/64",
    "localhost/8",
    "",
  ]) {
    it.effect(`names the bad entry ${JSON.stringify(entry)}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(NetworkAddress.makePolicy({ allow: ["10.0.0.0/8", "::/0", entry] }))
        assert.strictEqual(error.field, "allow[2]")
        assert.include(error.problem, "must be a network such as 10.20.0.0/16")
        assert.include(error.problem, JSON.stringify(entry))
      }),
    )
  }
})
