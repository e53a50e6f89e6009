import { decode } from "./Base64.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"

type OneOrMore = string | ReadonlyArray<string>

/**
 * The keys to check a signature with: secrets, public keys, or both. One match is enough, so pass both the old and
 * the new secret while you rotate.
 *
 * - `secret`: for `v1` signatures. `whsec_` and base64, as the endpoint shows it. The prefix may be left out. It
 *   must not be empty.
 * - `publicKey`: for `v1a` signatures. `whpk_` and the base64 of an Ed25519 public key, 32 bytes.
 */
export type WebhookKeys =
  | { readonly secret: OneOrMore; readonly publicKey?: OneOrMore | undefined }
  | { readonly secret?: OneOrMore | undefined; readonly publicKey: OneOrMore }

type Bytes = Uint8Array<ArrayBuffer>

/** Keys as bytes. */
export interface DecodedKeys {
  readonly secrets: ReadonlyArray<Bytes>
  readonly publicKeys: ReadonlyArray<Bytes>
}

const SECRET_PREFIX = "whsec_"
const PUBLIC_KEY_PREFIX = "whpk_"
const SIGNING_KEY_PREFIX = "whsk_"
const PUBLIC_KEY_LENGTH = 32

const invalidSecret = (problem: string) => new WebhookVerificationError("invalid_secret", problem)
const invalidPublicKey = (problem: string) => new WebhookVerificationError("invalid_public_key", problem)

const decodeSecret = (secret: unknown): Bytes => {
  if (typeof secret !== "string") throw invalidSecret("A secret must be a string.")
  // A public key is not secret: if it were used as the secret, anyone could sign.
  if (secret.startsWith(PUBLIC_KEY_PREFIX))
    throw invalidSecret("A public key (whpk_) was given as the secret: pass it as publicKey.")
  if (secret.startsWith(SIGNING_KEY_PREFIX))
    throw invalidSecret("A signing key (whsk_) is only for the sender: pass the whpk_ key as publicKey.")
  const bytes = decode(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret)
  if (bytes === undefined) throw invalidSecret("The secret is not base64 (with or without whsec_ before it).")
  if (bytes.length === 0) throw invalidSecret("The secret is empty: is its environment variable set?")
  return bytes
}

const decodePublicKey = (publicKey: unknown): Bytes => {
  if (typeof publicKey !== "string" || !publicKey.startsWith(PUBLIC_KEY_PREFIX))
    throw invalidPublicKey("A public key must be a string that starts with whpk_.")
  const bytes = decode(publicKey.slice(PUBLIC_KEY_PREFIX.length))
  if (bytes?.length !== PUBLIC_KEY_LENGTH)
    throw invalidPublicKey("The public key is not the base64 of 32 bytes after whpk_.")
  return bytes
}

const listOf = (keys: OneOrMore | undefined): ReadonlyArray<unknown> =>
  keys === undefined ? [] : Array.isArray(keys) ? keys : [keys]

/** Throws `invalid_secret` or `invalid_public_key`. Without any key it throws `invalid_secret`. */
export const decodeKeys = ({ publicKey, secret }: WebhookKeys): DecodedKeys => {
  const keys = {
    secrets: listOf(secret).map(decodeSecret),
    publicKeys: listOf(publicKey).map(decodePublicKey),
  }
  if (keys.secrets.length + keys.publicKeys.length === 0)
    throw invalidSecret("Neither a secret nor a publicKey was given: is the environment variable set?")
  return keys
}
