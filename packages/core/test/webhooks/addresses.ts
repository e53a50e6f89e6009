/** Addresses and their spellings, made from bits. */
import { fc } from "../property.ts"

export interface Block {
  readonly family: 4 | 6
  readonly address: string
  readonly prefixLength: number
  /** The address as a number. */
  readonly bits: bigint
}

export const widthOf = (family: 4 | 6): number => (family === 4 ? 32 : 128)

/** A block by its groups: `block4([10, 0, 0, 0], 8)`. */
export const block4 = (parts: ReadonlyArray<number>, prefixLength: number): Block => {
  const bits = parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n)
  return { family: 4, address: parts.join("."), prefixLength, bits }
}
export const block6 = (groups: ReadonlyArray<number>, prefixLength: number): Block => {
  const all = [...groups, ...Array.from({ length: 8 - groups.length }, () => 0)]
  const bits = all.reduce((sum, group) => sum * 65_536n + BigInt(group), 0n)
  return { family: 6, address: all.map((group) => group.toString(16)).join(":"), prefixLength, bits }
}

const bytesOf = (bits: bigint): ReadonlyArray<number> =>
  [24n, 16n, 8n, 0n].map((shift) => Number((bits >> shift) & 255n))
const groupsOf = (bits: bigint): ReadonlyArray<number> =>
  Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - index * 16)) & 0xffffn))

const dotted = (bits: bigint): string => bytesOf(bits).join(".")

/** Every way in which the URL Standard reads an IPv4 address: parts that are joined, hexadecimal, octal. */
export const urlSpellings4 = (bits: bigint): ReadonlyArray<string> => {
  const [a, b, c, d] = bytesOf(bits) as [number, number, number, number]
  const joined = [[a, b, c, d], [a, b, c * 256 + d], [a, b * 65_536 + c * 256 + d], [Number(bits)]]
  const radixes = [
    (part: number) => String(part),
    (part: number) => `0x${part.toString(16)}`,
    (part: number) => `0X${part.toString(16).toUpperCase().padStart(9, "0")}`,
    (part: number) => `0${part.toString(8)}`,
  ]
  const plain = joined.flatMap((parts) => radixes.map((radix) => parts.map(radix).join(".")))
  const fullWidth = dotted(bits).replaceAll(/[0-9.]/g, (digit) =>
    digit === "." ? "。" : String.fromCharCode(digit.charCodeAt(0) + 0xfee0),
  )
  const encoded = dotted(bits).replaceAll(/[0-9]/g, (digit) => `%3${digit}`)
  return [...plain, fullWidth, encoded, `${dotted(bits)}.`]
}

/** The forms of RFC 4291 for the same address: long, short, every place for `::`, upper case, dotted end. */
export const spellings6 = (bits: bigint): ReadonlyArray<string> => {
  const groups = groupsOf(bits)
  const hex = groups.map((group) => group.toString(16))
  const tail = dotted(bits & 0xffff_ffffn)
  const compressed = []
  for (let start = 0; start < 8; start++) {
    for (let end = start; end < 8 && groups[end] === 0; end++) {
      const [left, right] = [hex.slice(0, start), hex.slice(end + 1)]
      compressed.push(`${left.join(":")}::${right.join(":")}`)
      if (end < 6) {
        const dottedRight = [...hex.slice(end + 1, 6), tail]
        compressed.push(`${left.join(":")}::${dottedRight.join(":")}`)
      }
    }
  }
  return [
    hex.join(":"),
    hex.join(":").toUpperCase(),
    hex.map((group) => group.padStart(4, "0")).join(":"),
    [...hex.slice(0, 6), tail].join(":"),
    ...compressed,
  ]
}

/** Any spelling that a resolver or `URL.hostname` may give. */
export const spellings = (family: 4 | 6, bits: bigint): ReadonlyArray<string> =>
  family === 4 ? [dotted(bits)] : spellings6(bits)

/** Addresses of a block, its first and last ones often. */
export const inside = ({ bits, family, prefixLength }: Block): fc.Arbitrary<bigint> => {
  const last = (1n << BigInt(widthOf(family) - prefixLength)) - 1n
  return fc.oneof(fc.constantFrom(0n, last), fc.bigInt({ min: 0n, max: last })).map((offset) => bits + offset)
}

/** The neighbours of a block: the address before its first, and the one after its last. */
export const neighbours = ({ bits, family, prefixLength }: Block): ReadonlyArray<bigint> =>
  [bits - 1n, bits + (1n << BigInt(widthOf(family) - prefixLength))].filter(
    (neighbour) => neighbour >= 0n && neighbour < 1n << BigInt(widthOf(family)),
  )
