/** A self-signed certificate, generated for each test. So the repository contains no key, and no certificate expires. */
import { type KeyObject, generateKeyPairSync, randomBytes, sign } from "node:crypto"

const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"))
const utcTime = (date: Date) =>
  der(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replaceAll(/[-:T]/g, "")}Z`))

const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"))
const COMMON_NAME = oid("550403")
const SUBJECT_ALT_NAME = oid("551d11")
const BASIC_CONSTRAINTS = oid("551d13")

const DAY = 86_400_000

const nameOf = (host: string) => {
  const parts = host.split(".").map(Number)
  return parts.length === 4 && parts.every((part) => part <= 255)
    ? der(0x87, Buffer.from(parts))
    : der(0x82, Buffer.from(host))
}

const signedBy = (key: KeyObject, toBeSigned: Buffer) =>
  sequence(toBeSigned, ECDSA_SHA256, der(0x03, Buffer.from([0]), sign("sha256", toBeSigned, key)))

/** For host names and IPv4 addresses. `notBefore` and `notAfter` are in days from now. */
export const selfSigned = (hosts: ReadonlyArray<string>, notBefore = -1, notAfter = 1) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  // A new name for each certificate, because issuers are looked up by name.
  const commonName = Buffer.from(`test ${randomBytes(8).toString("hex")}`)
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, commonName))))
  const extensions = sequence(
    sequence(SUBJECT_ALT_NAME, der(0x04, sequence(...hosts.map(nameOf)))),
    sequence(BASIC_CONSTRAINTS, der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
  )
  const now = Date.now()
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    name,
    sequence(utcTime(new Date(now + notBefore * DAY)), utcTime(new Date(now + notAfter * DAY))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  )
  const lines = signedBy(privateKey, toBeSigned)
    .toString("base64")
    .match(/.{1,64}/g)!
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  }
}
