/** A sender of Standard Webhooks that uses node:crypto and shares no code with the library. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto"

export interface Message {
  readonly id: string
  /** The timestamp as in the header. */
  readonly timestamp: string
  readonly body: string | Uint8Array
}

const contentOf = ({ body, id, timestamp }: Message): Buffer =>
  Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body as string)])

export const signV1 = (message: Message, secret: Uint8Array): string =>
  `v1,${createHmac("sha256", secret).update(contentOf(message)).digest("base64")}`

export const signV1a = (message: Message, privateKey: KeyObject): string =>
  `v1a,${sign(null, contentOf(message), privateKey).toString("base64")}`

export const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString("base64")}`

/** A new key pair: the private key, and the public key as `whpk_…`. */
export const makeKeyPair = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url")
  return { privateKey, publicKey: `whpk_${raw.toString("base64")}` }
}

export const headersOf = ({ id, timestamp }: Message, ...signatures: ReadonlyArray<string>) => ({
  "webhook-id": id,
  "webhook-timestamp": timestamp,
  "webhook-signature": signatures.join(" "),
})
