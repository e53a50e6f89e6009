/**
 * Ids are TypeIDs (https://github.com/jetify-com/typeid, specification 0.3): a prefix that says the kind,
 * an underscore, and a UUIDv7 (RFC 9562) as 26 characters of Crockford's base32.
 *
 * They sort by the time of their making, so the order of ids is the order of lists.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { advance, type Moment, type Random32 } from "./IdMoment.ts"

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
const VALUE_OF = new Int8Array(128).fill(-1)
for (let i = 0; i < ALPHABET.length; i++) VALUE_OF[ALPHABET.charCodeAt(i)] = i

/** Characters of a suffix: 128 bits in steps of 5, the first carries 3. */
const SUFFIX_LENGTH = 26
const MAX_PREFIX_LENGTH = 63
const PREFIX_PATTERN = /^([a-z]([a-z_]{0,61}[a-z])?)?$/
const SUFFIX_PATTERN = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Two characters at a time: every request makes several ids. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, value) => ALPHABET.charAt(value >> 5) + ALPHABET.charAt(value & 31),
)

/** The 26 characters of 16 bytes. */
export const encodeSuffix = (bytes: Uint8Array): string => {
  let text = ""
  let carry = 0
  let bits = 2 // 130 bits of characters for 128 bits of bytes: two zero bits come first
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

/** The 16 bytes of 26 characters, or `undefined` when they are no suffix. */
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

/** Takes a TypeID apart, or gives `undefined` when the text is none. */
export const parse = (id: string): { readonly prefix: string; readonly bytes: Uint8Array } | undefined => {
  const split = id.lastIndexOf("_")
  if (split === 0) return undefined
  const prefix = split === -1 ? "" : id.slice(0, split)
  if (prefix.length > MAX_PREFIX_LENGTH || !PREFIX_PATTERN.test(prefix)) return undefined
  const bytes = decodeSuffix(id.slice(split + 1))
  return bytes && { prefix, bytes }
}

/** Puts a TypeID together. The prefix must be one of the specification's. */
export const format = (prefix: string, bytes: Uint8Array): string =>
  prefix === "" ? encodeSuffix(bytes) : `${prefix}_${encodeSuffix(bytes)}`

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** The UUID of an id in its usual spelling, as databases store it. The id must be well-formed. */
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

/** The id of a stored UUID. The inverse of `toUuid`. */
export const fromUuid = (prefix: string, uuid: string): string => {
  const hex = uuid.replaceAll("-", "")
  const bytes = new Uint8Array(16)
  for (let i = 0; i < 16; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16)
  return format(prefix, bytes)
}

/**
 * The id that lies `distance` (0 to 2^47) behind another: the last 48 bits, which are random, are added to and
 * wrap around. What belongs to one thing can so be named by it, and still sorts with its time.
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

/** The Schema of one kind of id; to be branded: `schema("cus").pipe(Schema.brand("CustomerId"))`. */
export const schema = (prefix: string) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, "u"), {
      message: `must be an id that starts with ${prefix}_`,
    }),
  )

/**
 * A source of ids.
 *
 * `next(prefix)` takes its time from `Clock` and never goes back: ids of one generator rise strictly, also
 * within a millisecond and when the clock is set back (RFC 9562 §6.2, method 1: a counter that starts at a
 * random value each millisecond). `at` is the same for who has read that clock already, in milliseconds of the epoch:
 * an instant of the future is where the ids of this generator go on from.
 */
export class IdGenerator extends Context.Service<
  IdGenerator,
  {
    readonly next: (prefix: string) => Effect.Effect<string>
    readonly at: (prefix: string, millis: number) => string
  }
>()("@billwright/core/shared/IdGenerator") {
  /** Random bits from the platform's CSPRNG: ids of different processes don't collide. */
  static readonly layer = Layer.sync(IdGenerator, () => make(cryptoRandom()))

  /** The same ids for the same seed and clock, for tests and simulations. */
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
    next: (prefix) => Effect.map(Clock.currentTimeMillis, (now) => at(prefix, now)),
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
  const pool = new Uint32Array(1024) // one call into the platform for hundreds of ids
  let at = pool.length
  return () => {
    if (at === pool.length) {
      crypto.getRandomValues(pool)
      at = 0
    }
    return pool[at++] ?? 0
  }
}

/** splitmix32: small, seedable, good enough to tell ids of a test apart. */
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
