/**
 * Signatures of the Standard Webhooks specification (https://www.standardwebhooks.com): `v1`, HMAC-SHA256 with
 * a shared secret, and `v1a`, Ed25519 with a key pair.
 *
 * The signed text is `id.timestamp.body`. An id must not contain a dot, because the text could then be split in another
 * way. The ids of this library contain none.
 */
import { Effect, Redacted } from "effect"
import { fromBase64, toBase64 } from "../shared/Base64.ts"
import * as Sha256 from "../shared/Sha256.ts"
import type { SignatureScheme } from "./Endpoint.ts"

/** The prefixes of a secret of `v1`, and of a private and a public key of `v1a`. */
const SECRET_PREFIX = "whsec_"
const PRIVATE_PREFIX = "whsk_"
const PUBLIC_PREFIX = "whpk_"
/** Bytes of a new secret, from the CSPRNG. */
const SECRET_BYTES = 32
/** Bytes of a private key. Its public key follows it, as in libsodium. */
const SEED_BYTES = 32

/** The DER bytes of PKCS #8 before the seed of an Ed25519 key (RFC 8410 §7). */
const PKCS8_HEADER = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32]

/** The content that an attempt signs. */
export interface SignedContent {
  /** The event's id. It is the same in every attempt and replay. */
  readonly id: string
  /** The attempt's instant in seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** A new secret, and its public key if the scheme has one. */
export interface NewSecret {
  readonly secret: Redacted.Redacted<string>
  readonly publicKey: string | null
}

const signedText = ({ body, id, timestamp }: SignedContent): string => `${id}.${timestamp}.${body}`

/** Makes a secret from the platform's CSPRNG. */
export const generate = (scheme: SignatureScheme): Effect.Effect<NewSecret> =>
  scheme === "hmac" ? Effect.sync(generateShared) : Effect.promise(generatePair)

const generateShared = (): NewSecret => {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  return { secret: Redacted.make(SECRET_PREFIX + toBase64(bytes)), publicKey: null }
}

const generatePair = async (): Promise<NewSecret> => {
  const { privateKey, publicKey } = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey))
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey))
  const seed = pkcs8.subarray(PKCS8_HEADER.length, PKCS8_HEADER.length + SEED_BYTES)
  return {
    secret: Redacted.make(PRIVATE_PREFIX + toBase64(new Uint8Array([...seed, ...point]))),
    publicKey: PUBLIC_PREFIX + toBase64(point),
  }
}

/** Signs content with a secret that was prepared before. Gives one signature with its version, such as `v1,…`. */
export type Signer = (content: SignedContent) => Effect.Effect<string>

/** Prepares a secret for signing. Dies with a `TypeError` when the text is not a secret made by `generate`. */
export const signer = (secret: Redacted.Redacted<string>): Effect.Effect<Signer> => {
  const text = Redacted.value(secret)
  return text.startsWith(PRIVATE_PREFIX)
    ? Effect.promise(() => keyPairSigner(text.slice(PRIVATE_PREFIX.length)))
    : Effect.sync(() => sharedSigner(text))
}

const sharedSigner = (text: string): Signer => {
  const key = text.startsWith(SECRET_PREFIX) ? fromBase64(text.slice(SECRET_PREFIX.length)) : undefined
  if (key === undefined || key.length === 0) throw new TypeError("this is not a webhook secret")
  const authenticate = Sha256.hmac(key)
  return (content) => Effect.sync(() => `v1,${authenticate(signedText(content), "base64")}`)
}

const keyPairSigner = async (encoded: string): Promise<Signer> => {
  const bytes = fromBase64(encoded)
  if (bytes === undefined || bytes.length < SEED_BYTES)
    throw new TypeError("this is not a webhook signing key")
  const pkcs8 = new Uint8Array([...PKCS8_HEADER, ...bytes.subarray(0, SEED_BYTES)])
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"])
  return (content) =>
    Effect.map(
      Effect.promise(() => crypto.subtle.sign("Ed25519", key, new TextEncoder().encode(signedText(content)))),
      (signature) => `v1a,${toBase64(new Uint8Array(signature))}`,
    )
}

/** The value of the header `webhook-signature`: one signature for each signer, separated by spaces. */
export const header = (signers: ReadonlyArray<Signer>, content: SignedContent): Effect.Effect<string> => {
  const [first] = signers
  if (first !== undefined && signers.length === 1) return first(content)
  return Effect.map(
    Effect.forEach(signers, (sign) => sign(content)),
    (signatures) => signatures.join(" "),
  )
}
