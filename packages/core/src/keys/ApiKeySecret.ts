/**
 * Makes, checks and digests the secrets of API keys.
 */
import { Redacted } from "effect"
import * as Sha256 from "../shared/Sha256.ts"
import type { Mode } from "../shared/Tenant.ts"

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
/** Characters of randomness: 32 × log2(62) = 190 bits. */
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6
/** Largest multiple of 62 that fits in a byte. Larger bytes are dropped, because they would favour some characters. */
const UNBIASED_BYTES = 248

const PATTERN = new RegExp(`^sk_(live|test)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/** Makes a secret from the platform's CSPRNG. */
export const generate = (mode: Mode): Redacted.Redacted<string> => {
  let random = ""
  const bytes = new Uint8Array(RANDOM_LENGTH)
  while (random.length < RANDOM_LENGTH) {
    crypto.getRandomValues(bytes)
    for (const byte of bytes) {
      if (byte < UNBIASED_BYTES && random.length < RANDOM_LENGTH) random += BASE62[byte % 62]
    }
  }
  const body = `sk_${mode}_${random}`
  return Redacted.make(body + checksum(body))
}

/** The mode in a secret's text, or `undefined` when its form or checksum is wrong. Does not read the storage. */
export const modeOf = (secret: Redacted.Redacted<string>): Mode | undefined => {
  const text = Redacted.value(secret)
  const match = PATTERN.exec(text)
  if (match === null) return undefined
  const body = text.slice(0, -CHECKSUM_LENGTH)
  return checksum(body) === text.slice(-CHECKSUM_LENGTH) ? (match[1] as Mode) : undefined
}

/** The last characters of a secret, to recognise it by in lists. */
export const hint = (secret: Redacted.Redacted<string>): string => Redacted.value(secret).slice(-4)

/**
 * Makes a function that computes the digest of a secret, which is stored instead of the secret: its SHA-256, or with a
 * pepper its HMAC-SHA256, as 64 hexadecimal digits. A slow hash is not needed, because nobody can guess a random secret
 * of 190 bits.
 */
export const digester = (
  pepper: Redacted.Redacted<string> | undefined,
): ((secret: Redacted.Redacted<string>) => string) => {
  if (pepper === undefined) return (secret) => Sha256.hex(Redacted.value(secret))
  const authenticate = Sha256.hmac(new TextEncoder().encode(Redacted.value(pepper)))
  return (secret) => authenticate(Redacted.value(secret), "hex")
}

/** Compares two digests, or other secret texts, in a time that depends only on their length. */
export const isSameDigest = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** The table of CRC-32: the checksum of each single byte. */
const CRC_OF_BYTE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

/** The CRC-32 of an ASCII text (ISO 3309, as in zip and PNG), in 6 characters of base62. */
const checksum = (text: string): string => {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc = (crc >>> 8) ^ (CRC_OF_BYTE[(crc ^ text.charCodeAt(i)) & 255] ?? 0)
  }
  let value = (crc ^ 0xffffffff) >>> 0
  let digits = ""
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[value % 62] + digits
    value = Math.floor(value / 62)
  }
  return digits
}
