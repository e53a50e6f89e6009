/**
 * The keys that sign proofs of invoices: Ed25519, by the WebCrypto of the platform.
 */
import { Effect, Redacted } from "effect"
import { fromBase64, toBase64 } from "../shared/Base64.ts"
import * as Sha256 from "../shared/Sha256.ts"

/** The prefix of a signing key. */
const PREFIX = "prfk_"
/** Bytes of a signing key. Those of its public key follow them, as in libsodium. */
const SEED_BYTES = 32
const POINT_BYTES = 32

/** The DER bytes of PKCS #8 before the seed of an Ed25519 key (RFC 8410 §7). */
const PKCS8_HEADER = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32]

/** A public key as JWK (RFC 8037). */
export interface PublicProofKey {
  readonly kty: "OKP"
  readonly crv: "Ed25519"
  /** The point, in base64url. */
  readonly x: string
  /** The thumbprint of the key (RFC 7638), by which proofs name it. */
  readonly kid: string
  readonly alg: "EdDSA"
  readonly use: "sig"
}

/** Signs the documents of proofs. */
export interface ProofSigner {
  readonly publicKey: PublicProofKey
  /** The signature of a text in UTF-8, in base64. */
  readonly sign: (text: string) => Effect.Effect<string>
}

const base64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")

const hexBytes = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

/** The public key of a point in base64url. Its members are in the order of the thumbprint. */
const publicKeyOf = (x: string): PublicProofKey => {
  const kid = base64Url(hexBytes(Sha256.hex(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)))
  return { kty: "OKP", crv: "Ed25519", x, kid, alg: "EdDSA", use: "sig" }
}

/** Makes a signing key from the platform's CSPRNG. Keep it as safe as a password. */
export const generate: Effect.Effect<Redacted.Redacted<string>> = Effect.promise(async () => {
  const { privateKey, publicKey } = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey))
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey))
  const seed = pkcs8.subarray(PKCS8_HEADER.length, PKCS8_HEADER.length + SEED_BYTES)
  return Redacted.make(PREFIX + toBase64(new Uint8Array([...seed, ...point])))
})

const bytesOf = (key: Redacted.Redacted<string>): Uint8Array => {
  const text = Redacted.value(key).trim()
  const bytes = text.startsWith(PREFIX) ? fromBase64(text.slice(PREFIX.length)) : undefined
  if (bytes?.length === SEED_BYTES + POINT_BYTES) return bytes
  throw new TypeError(
    `a key that signs proofs must be ${PREFIX} and the base64 of ${SEED_BYTES + POINT_BYTES} bytes`,
  )
}

/** The public key of a signing key. Throws a `TypeError` if the text is not a signing key. */
export const toPublic = (key: Redacted.Redacted<string>): PublicProofKey =>
  publicKeyOf(base64Url(bytesOf(key).subarray(SEED_BYTES)))

/** Prepares a signing key. Throws a `TypeError` if the text is not a signing key. */
export const signer = (key: Redacted.Redacted<string>): ProofSigner => {
  const bytes = bytesOf(key)
  const pkcs8 = new Uint8Array([...PKCS8_HEADER, ...bytes.subarray(0, SEED_BYTES)])
  let imported: Promise<CryptoKey> | undefined
  return {
    publicKey: toPublic(key),
    sign: (text) =>
      Effect.promise(async () => {
        imported ??= crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"])
        const data = new TextEncoder().encode(text)
        return toBase64(new Uint8Array(await crypto.subtle.sign("Ed25519", await imported, data)))
      }),
  }
}
