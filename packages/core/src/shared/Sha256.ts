/**
 * SHA-256 and HMAC-SHA256 of text in UTF-8. Both are synchronous: those of WebCrypto are asynchronous, and waiting for
 * them costs more than the hash.
 *
 * The functions of the platform are used where there are any (Node, Bun, Deno), because they are faster. Elsewhere those
 * of `@noble/hashes` are used, with the same results.
 */
import { hmac as nobleHmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { toBase64 } from "./Base64.ts"

export interface Sha256 {
  /** The hash, as 64 hexadecimal digits. */
  readonly hex: (text: string) => string
  /**
   * Makes a function that computes the authentication code of a text with a key of any length. Making the function costs
   * more than calling it, so keep it and call it again.
   */
  readonly hmac: (key: Uint8Array) => Authenticate
}

type Authenticate = (text: string, encoding: "hex" | "base64") => string

/** The part of `node:crypto` that is used here. */
interface NodeCrypto {
  readonly hash: (algorithm: "sha256", text: string, encoding: "hex") => string
  readonly createSecretKey: (key: Uint8Array) => object
  readonly createHmac: (
    algorithm: "sha256",
    key: object,
  ) => { readonly update: (text: string) => { readonly digest: (encoding: "hex" | "base64") => string } }
}

interface NodeProcess {
  readonly getBuiltinModule?: (id: string) => Partial<NodeCrypto> | undefined
}

/** Works on every platform, since it is all in JavaScript. */
export const portable: Sha256 = {
  hex: (text) => bytesToHex(sha256(utf8ToBytes(text))),
  hmac: (key) => {
    const keyed = nobleHmac.create(sha256, key)
    return (text, encoding) => {
      const code = keyed.clone().update(utf8ToBytes(text)).digest()
      return encoding === "hex" ? bytesToHex(code) : toBase64(code)
    }
  },
}

const native = ({ createHmac, createSecretKey, hash }: NodeCrypto): Sha256 => ({
  hex: (text) => hash("sha256", text, "hex"),
  hmac: (key) => {
    const secretKey = createSecretKey(key)
    return (text, encoding) => createHmac("sha256", secretKey).update(text).digest(encoding)
  },
})

// Read from `process` and not imported, so that nothing fails on platforms without `node:crypto`.
const { process: host } = globalThis as { readonly process?: NodeProcess }
const nodeCrypto = host?.getBuiltinModule?.("node:crypto")

/** The fastest functions that the platform has. */
export const { hex, hmac }: Sha256 =
  nodeCrypto?.hash === undefined ||
  nodeCrypto.createHmac === undefined ||
  nodeCrypto.createSecretKey === undefined
    ? portable
    : native(nodeCrypto as NodeCrypto)
