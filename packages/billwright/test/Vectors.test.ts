/** The test vectors of Standard Webhooks and Svix, and messages that must be refused. */
import { type VerifyOptions, verifySignature, type WebhookErrorCode } from "billwright/verify"
import { assert, describe, it } from "vitest"
import { codeOf } from "./Failure.ts"
import { secretOf, signV1 } from "./Signer.ts"
import vectors from "./vectors/webhook-signatures.json" with { type: "json" }

interface Vector {
  readonly id: string
  readonly timestamp: number | string
  readonly payload: string
  readonly signature: string
}

const at = (seconds: number): Date => new Date(seconds * 1000)

const headersOf = ({ id, signature, timestamp }: Vector): Record<string, string> => ({
  "webhook-id": id,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": signature,
})

const canonical = vectors.v1[0]!

const optionsOf = (vector: Vector): VerifyOptions => ({
  secret: canonical.secret,
  headers: headersOf(vector),
  body: vector.payload,
  now: at(canonical.timestamp),
})

describe("accepts", () => {
  for (const vector of vectors.v1)
    it(`v1: ${vector.name}`, async () => {
      const options = { ...optionsOf(vector), secret: vector.secret, now: at(vector.timestamp) }
      assert.deepStrictEqual(await verifySignature(options), {
        id: vector.id,
        timestamp: at(vector.timestamp),
      })
      assert.strictEqual(
        await codeOf(verifySignature({ ...options, body: `${vector.payload} ` })),
        "no_matching_signature",
      )
    })

  for (const vector of vectors.v1a)
    it(`v1a: ${vector.name}`, async () => {
      const { headers, now } = { ...optionsOf(vector), now: at(vector.timestamp) }
      const options = { publicKey: vector.publicKey, headers, now, body: vector.payload }
      assert.deepStrictEqual(await verifySignature(options), {
        id: vector.id,
        timestamp: at(vector.timestamp),
      })
      assert.strictEqual(
        await codeOf(verifySignature({ ...options, body: `${vector.payload} ` })),
        "no_matching_signature",
      )
      assert.strictEqual(
        await codeOf(verifySignature({ ...options, publicKey: vector.signingKey })),
        "invalid_public_key",
      )
    })

  for (const { name, signature } of vectors.acceptExtra)
    it(name, async () => {
      assert.strictEqual((await verifySignature(optionsOf({ ...canonical, signature }))).id, canonical.id)
    })
})

/** The error code for each refused vector. */
const codes: Readonly<Record<string, WebhookErrorCode>> = {
  "missing webhook-id": "missing_header",
  "missing webhook-timestamp": "missing_header",
  "missing webhook-signature": "missing_header",
  "non-numeric timestamp": "invalid_timestamp",
  "float timestamp": "invalid_timestamp",
  "negative timestamp": "invalid_timestamp",
  "trailing junk timestamp (JS lib accepts: defect)": "invalid_timestamp",
  "plus sign (JS lib accepts: defect)": "invalid_timestamp",
  "too old": "timestamp_too_old",
  "too new": "timestamp_too_new",
  "wrong signature": "invalid_signature_header",
  "unknown version with good mac": "invalid_signature_header",
  "no comma": "invalid_signature_header",
  "bad base64": "invalid_signature_header",
  "empty v1": "invalid_signature_header",
  "first 8 chars": "invalid_signature_header",
  "empty header": "missing_header",
  "tampered payload": "no_matching_signature",
  "other id": "no_matching_signature",
}

describe("refuses", () => {
  for (const { name, now, omit, ...changes } of vectors.rejectUsingCanonical)
    it(name, async () => {
      const { headers, ...options } = optionsOf({ ...canonical, ...changes })
      const kept = Object.entries(headers).filter(([header]) => header !== omit)
      const verification = verifySignature({
        ...options,
        headers: kept,
        now: at(now ?? canonical.timestamp),
      })
      assert.strictEqual(await codeOf(verification), codes[name])
    })

  for (const secret of vectors.invalidSecrets)
    it(`the secret "${secret}"`, async () => {
      const verification = verifySignature({ ...optionsOf(canonical), secret })
      assert.strictEqual(await codeOf(verification), "invalid_secret")
    })

  it("an id with a dot, because another message could have the same signature", async () => {
    const bytes = Buffer.from("a secret")
    const { a, b } = vectors.ambiguity
    const optionsFor = ({ id, payload, timestamp }: typeof a): VerifyOptions => {
      const message = { id, timestamp: String(timestamp), body: payload }
      return {
        ...optionsOf({ id, payload, timestamp, signature: signV1(message, bytes) }),
        secret: secretOf(bytes),
        now: at(timestamp),
      }
    }
    assert.strictEqual((await verifySignature(optionsFor(a))).id, a.id)
    assert.strictEqual(await codeOf(verifySignature(optionsFor(b))), "invalid_id")
  })
})
