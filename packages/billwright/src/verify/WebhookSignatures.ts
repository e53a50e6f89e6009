import { decodeCanonical } from "./Base64.ts"
import type { DecodedKeys } from "./WebhookKeys.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** The longest `webhook-signature`, in characters. */
export const MAX_SIGNATURE_HEADER_LENGTH = 4_096

/**
 * The most signatures in a `webhook-signature`, of all versions together. A sender adds one for each secret that is
 * valid.
 */
export const MAX_SIGNATURES = 32

type Bytes = Uint8Array<ArrayBuffer>

/** The signatures of the supported versions. */
export interface WebhookSignatures {
  /** HMAC-SHA256, 32 bytes each. */
  readonly v1: ReadonlyArray<Bytes>
  /** Ed25519, 64 bytes each. */
  readonly v1a: ReadonlyArray<Bytes>
}

const V1_LENGTH = 32
const V1A_LENGTH = 64

const invalidHeader = (problem: string) =>
  new WebhookVerificationError("invalid_signature_header", `The header webhook-signature ${problem}.`)

const decodeAll = (entries: ReadonlyArray<string>, version: string, length: number): ReadonlyArray<Bytes> =>
  entries
    .filter((entry) => entry.startsWith(`${version},`))
    .map((entry) => decodeCanonical(entry.slice(version.length + 1)))
    .filter((bytes) => bytes !== undefined)
    .filter((bytes) => bytes.length === length)

/**
 * Reads the header: `v1,<base64>` and `v1a,<base64>`, separated by spaces. Other versions and malformed entries are
 * skipped. Throws `invalid_signature_header` when none remains.
 */
export const parseSignatures = (header: string): WebhookSignatures => {
  if (header.length > MAX_SIGNATURE_HEADER_LENGTH)
    throw invalidHeader(`is longer than ${MAX_SIGNATURE_HEADER_LENGTH} characters`)
  const entries = header.split(" ").filter((entry) => entry !== "")
  if (entries.length > MAX_SIGNATURES) throw invalidHeader(`has more than ${MAX_SIGNATURES} signatures`)
  const signatures = {
    v1: decodeAll(entries, "v1", V1_LENGTH),
    v1a: decodeAll(entries, "v1a", V1A_LENGTH),
  }
  if (signatures.v1.length + signatures.v1a.length === 0)
    throw invalidHeader("has no well-formed v1 or v1a signature")
  return signatures
}

const subtle = (): SubtleCrypto => {
  // Browsers have it in secure contexts only.
  const { crypto } = globalThis as { readonly crypto?: { readonly subtle?: SubtleCrypto } }
  if (crypto?.subtle === undefined)
    throw new WebhookVerificationError(
      "unsupported_runtime",
      "This runtime has no WebCrypto (crypto.subtle), which browsers offer in secure contexts only.",
    )
  return crypto.subtle
}

const hmac = async (secret: Bytes, content: Bytes): Promise<Bytes> => {
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const key = await subtle().importKey("raw", secret, algorithm, false, ["sign"])
  return new Uint8Array(await subtle().sign("HMAC", key, content))
}

/** Compares two arrays of 32 bytes in constant time, so that the duration doesn't reveal where they differ. */
const isEqual = (left: Bytes, right: Bytes): boolean =>
  left.reduce((difference, byte, index) => difference | (byte ^ right[index]!), 0) === 0

/**
 * Computes the HMAC once for each secret. `subtle.verify` would compute it for each signature, and the sender
 * decides how many there are.
 */
const matchesSecret = async (secret: Bytes, signatures: ReadonlyArray<Bytes>, content: Bytes) => {
  if (signatures.length === 0) return false
  const expected = await hmac(secret, content)
  return signatures.some((signature) => isEqual(expected, signature))
}

const importPublicKey = async (publicKey: Bytes): Promise<CryptoKey> => {
  try {
    return await subtle().importKey("raw", publicKey, { name: "Ed25519" }, false, ["verify"])
  } catch (error) {
    if (error instanceof WebhookVerificationError) throw error
    if ((error as { readonly name?: unknown } | undefined)?.name === "NotSupportedError")
      throw new WebhookVerificationError(
        "unsupported_runtime",
        "The WebCrypto of this runtime has no Ed25519.",
      )
    throw new WebhookVerificationError("invalid_public_key", "The public key is not an Ed25519 key.")
  }
}

const matchesPublicKey = async (publicKey: Bytes, signatures: ReadonlyArray<Bytes>, content: Bytes) => {
  if (signatures.length === 0) return false
  const key = await importPublicKey(publicKey)
  for (const signature of signatures)
    if (await subtle().verify("Ed25519", key, signature, content)) return true
  return false
}

const isMatch = async (keys: DecodedKeys, signatures: WebhookSignatures, content: Bytes) => {
  for (const secret of keys.secrets) if (await matchesSecret(secret, signatures.v1, content)) return true
  for (const publicKey of keys.publicKeys)
    if (await matchesPublicKey(publicKey, signatures.v1a, content)) return true
  return false
}

const mismatchOf = (keys: DecodedKeys, signatures: WebhookSignatures): string => {
  if (keys.secrets.length === 0 && signatures.v1a.length === 0)
    return "The message is signed with a secret (v1), but only a publicKey was given."
  if (keys.publicKeys.length === 0 && signatures.v1.length === 0)
    return "The message is signed with a private key (v1a), but only a secret was given."
  return "No signature matches: check that the secret belongs to this endpoint and that the body is unchanged."
}

/** Throws `no_matching_signature` unless one of the signatures of this content was made with one of the keys. */
export const checkSignatures = async (
  signatures: WebhookSignatures,
  keys: DecodedKeys,
  content: Bytes,
): Promise<void> => {
  if (!(await isMatch(keys, signatures, content)))
    throw new WebhookVerificationError("no_matching_signature", mismatchOf(keys, signatures))
}
