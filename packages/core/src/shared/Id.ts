/**
 * Ids are TypeIDs (https://github.com/jetify-com/typeid, specification 0.3): a prefix that names the kind,
 * an underscore, and a UUIDv7 (RFC 9562) as 26 characters of Crockford's base32.
 *
 * Ids sort by the time they were made. Lists are ordered by id.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { advance, type Moment, type Random32 } from "./IdMoment.ts"
import * as WallClock from "./WallClock.ts"

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
const VALUE_OF = new Int8Array(128).fill(-1)
for (let i = 0; i < ALPHABET.length; i++) VALUE_OF[ALPHABET.charCodeAt(i)] = i

/** Characters of a suffix: 128 bits, 5 per character. The first character carries 3. */
const SUFFIX_LENGTH = 26
const MAX_PREFIX_LENGTH = 63
const PREFIX_PATTERN = /^([a-z]([a-z_]{0,61}[a-z])?)?$/
const SUFFIX_PATTERN = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** All pairs of characters. Encoding two at a time is faster, and every request makes several ids. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, value) => ALPHABET.charAt(value >> 5) + ALPHABET.charAt(value & 31),
)

/** Encodes 16 bytes as the 26 characters of a suffix. */
export const encodeSuffix = (bytes: Uint8Array): string => {
  let text = ""
  let carry = 0
  let bits = 2 // 26 characters hold 130 bits and 16 bytes only 128, so two zero bits come first
  for (const byte of bytes) {
    carry = (carry << 8) | byte
    bits += 8
    if (bits < 10) continue
    bits -= 10
    text += PAIRS[carry >>> bits]
    carry &= (1 << bits) - 1
  }
  return text
}

/** Decodes the 26 characters of a suffix to 16 bytes. Gives `undefined` when the text is not a suffix. */
export const decodeSuffix = (suffix: string): Uint8Array | undefined => {
  if (!SUFFIX_PATTERN.test(suffix)) return undefined
  const bytes = new Uint8Array(16)
  let carry = 0
  let bits = -2
  let at = 0
  for (let i = 0; i < SUFFIX_LENGTH; i++) {
    carry = (carry << 5) | (VALUE_OF[suffix.charCodeAt(i)] ?? 0)
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = (carry >>> bits) & 255
      carry &= (1 << bits) - 1
    }
  }
  return bytes
}

/** Splits a TypeID into its prefix and bytes. Gives `undefined` when the text is not a TypeID. */
export const parse = (id: string): { readonly prefix: string; readonly bytes: Uint8Array } | undefined => {
  const split = id.lastIndexOf("_")
  if (split === 0) return undefined
  const prefix = split === -1 ? "" : id.slice(0, split)
  if (prefix.length > MAX_PREFIX_LENGTH || !PREFIX_PATTERN.test(prefix)) return undefined
  const bytes = decodeSuffix(id.slice(split + 1))
  return bytes && { prefix, bytes }
}

/** Makes a TypeID of a prefix and 16 bytes. The prefix must be valid by the specification; it is not checked. */
export const format = (prefix: string, bytes: Uint8Array): string =>
  prefix === "" ? encodeSuffix(bytes) : `${prefix}_${encodeSuffix(bytes)}`

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** The UUID of an id in the usual spelling, as databases store it. Throws a `TypeError` when the id is not a TypeID. */
export const toUuid = (id: string): string => {
  let text = ""
  let carry = 0
  let bits = -2
  const start = id.length - SUFFIX_LENGTH
  for (let i = start; i < id.length; i++) {
    const value = VALUE_OF[id.charCodeAt(i)] ?? -1
    if (value === -1 || (i === start && value > 7)) throw new TypeError("not a TypeID")
    carry = (carry << 5) | value
    bits += 5
    if (bits < 8) continue
    bits -= 8
    if (text.length === 8 || text.length === 13 || text.length === 18 || text.length === 23) text += "-"
    text += HEX[carry >>> bits]
    carry &= (1 << bits) - 1
  }
  return text
}

const HEX_VALUE_OF = new Uint8Array(128)
for (const [value, digit] of [..."0123456789abcdef"].entries()) {
  HEX_VALUE_OF[digit.charCodeAt(0)] = value
  HEX_VALUE_OF[digit.toUpperCase().charCodeAt(0)] = value
}
const DASH = "-".charCodeAt(0)
const scratch = new Uint8Array(16)

/** The id of a stored UUID with the given prefix: the inverse of `toUuid`. The UUID is not checked. */
export const fromUuid = (prefix: string, uuid: string): string => {
  let at = 0
  for (let i = 0; i < uuid.length; i++) {
    const digit = uuid.charCodeAt(i)
    if (digit === DASH) continue
    scratch[at++] = (HEX_VALUE_OF[digit]! << 4) | HEX_VALUE_OF[uuid.charCodeAt(++i)]!
  }
  return format(prefix, scratch)
}

/**
 * The id that comes `distance` (0 to 2^47) after another one. The distance is added to the last 48 bits, which are
 * random; they wrap around. So an object that belongs to another can derive its id from it, and still sorts by the
 * same time. Throws a `TypeError` when the id is not a TypeID.
 */
export const offset = (prefix: string, id: string, distance: number): string => {
  const bytes = decodeSuffix(id.slice(id.lastIndexOf("_") + 1))
  if (bytes === undefined) throw new TypeError("not a TypeID")
  let carry = distance
  for (let i = 15; i >= 10 && carry > 0; i--) {
    const sum = bytes[i]! + (carry % 256)
    bytes[i] = sum
    carry = Math.floor(carry / 256) + (sum > 255 ? 1 : 0)
  }
  return format(prefix, bytes)
}

/** When an id was made, in epoch milliseconds. Throws a `TypeError` when the id is not a TypeID. */
export const millisOf = (id: string): number => {
  const bytes = decodeSuffix(id.slice(id.lastIndexOf("_") + 1))
  if (bytes === undefined) throw new TypeError("not a TypeID")
  return bytes.subarray(0, 6).reduce((millis, byte) => millis * 256 + byte, 0)
}

/** The latest instant of an id: the largest number of 48 bits. */
const MAX_ID_MILLIS = 2 ** 48 - 1

/** The id before all that are made at an instant or later, in epoch milliseconds. */
export const firstAt = (prefix: string, millis: number): string => {
  const bytes = new Uint8Array(16)
  let left = Math.min(Math.max(Math.ceil(millis), 0), MAX_ID_MILLIS)
  for (let i = 5; i >= 0; i--) {
    bytes[i] = left % 256
    left = Math.floor(left / 256)
  }
  return format(prefix, bytes)
}

/** The Schema of ids with one prefix. Brand it: `schema("cus").pipe(Schema.brand("CustomerId"))`. */
export const schema = (prefix: string) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, "u"), {
      message: `must be an id that starts with ${prefix}_, with ${SUFFIX_LENGTH} lower-case letters and digits after it`,
    }),
  )

/**
 * A source of ids.
 *
 * `next(prefix)` makes an id with the time of this machine (`WallClock`). Each id of one generator sorts after the one before, also
 * within a millisecond and when the clock is set back (RFC 9562 §6.2, method 1: a counter that starts at a
 * random value each millisecond).
 *
 * `at(prefix, millis)` does the same for a caller who has read the clock already, in milliseconds since the epoch.
 * Given an instant in the future, later ids of this generator continue from that instant.
 */
export class IdGenerator extends Context.Service<
  IdGenerator,
  {
    readonly next: (prefix: string) => Effect.Effect<string>
    readonly at: (prefix: string, millis: number) => string
  }
>()("@billwright/core/shared/IdGenerator") {
  /** Takes random bits from the platform's CSPRNG, so that ids of different processes don't collide. */
  static readonly layer = Layer.sync(IdGenerator, () => make(cryptoRandom()))

  /** Makes the same ids for the same seed and clock, for tests and simulations. */
  static readonly layerSeeded = (seed: number) => Layer.sync(IdGenerator, () => make(seededRandom(seed)))
}

const make = (random32: Random32): IdGenerator["Service"] => {
  const moment: Moment = { millis: -1, counter: 0 }
  const bytes = new Uint8Array(16)
  const suffix = (now: number): string => {
    advance(moment, now, random32)
    fillUuidV7(bytes, moment.millis, moment.counter, random32(), random32())
    return encodeSuffix(bytes)
  }
  const at = (prefix: string, millis: number): string => `${prefix}_${suffix(millis)}`
  return IdGenerator.of({
    next: (prefix) => Effect.map(WallClock.millis, (now) => at(prefix, now)),
    at,
  })
}

const fillUuidV7 = (bytes: Uint8Array, millis: number, counter: number, random1: number, random2: number) => {
  const high = Math.floor(millis / 2 ** 16)
  bytes[0] = high >>> 24
  bytes[1] = high >>> 16
  bytes[2] = high >>> 8
  bytes[3] = high
  bytes[4] = millis >>> 8
  bytes[5] = millis
  bytes[6] = 0x70 | (counter >>> 22)
  bytes[7] = counter >>> 14
  bytes[8] = 0x80 | ((counter >>> 8) & 0x3f)
  bytes[9] = counter
  bytes[10] = random1 >>> 24
  bytes[11] = random1 >>> 16
  bytes[12] = random1 >>> 8
  bytes[13] = random1
  bytes[14] = random2 >>> 8
  bytes[15] = random2
}

const cryptoRandom = (): Random32 => {
  const pool = new Uint32Array(1024) // so that hundreds of ids need one call to the platform
  let at = pool.length
  return () => {
    if (at === pool.length) {
      crypto.getRandomValues(pool)
      at = 0
    }
    return pool[at++] ?? 0
  }
}

/** splitmix32: a small generator with a seed, good enough to make the ids of a test differ. */
const seededRandom = (seed: number): Random32 => {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let z = state ^ (state >>> 16)
    z = Math.imul(z, 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return (z ^ (z >>> 15)) >>> 0
  }
}
