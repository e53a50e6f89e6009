import { createHmac, createPublicKey, verify } from "node:crypto"
import { Signature } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Redacted } from "effect"
import { fc, holdsEffect } from "../property.ts"
import vectors from "./webhook-signatures.json" with { type: "json" }

const sign = Effect.fnUntraced(function* (secret: string, content: Signature.SignedContent) {
  const signer = yield* Signature.signer(Redacted.make(secret))
  return yield* Signature.header([signer], content)
})

const anyContent = fc.record({
  id: fc.stringMatching(/^evt_[0-9a-z]{26}$/),
  timestamp: fc.integer({ min: 0, max: 4_000_000_000 }),
  body: fc.string({ unit: "grapheme", maxLength: 300 }).filter((text) => text.isWellFormed()),
})

describe("Signature", () => {
  const own = vectors.v1.filter(({ secret }) => secret.startsWith("whsec_"))

  it.effect.each([...own, ...vectors.v1a.map((vector) => ({ ...vector, secret: vector.signingKey }))])(
    "signs the vector $name",
    (vector) =>
      Effect.gen(function* () {
        const { id, payload, timestamp } = vector
        assert.strictEqual(yield* sign(vector.secret, { id, timestamp, body: payload }), vector.signature)
      }),
  )

  it.effect("makes shared secrets that differ, of 32 bytes, and signs with them as HMAC-SHA256", () =>
    holdsEffect(anyContent, (content) =>
      Effect.gen(function* () {
        const made = yield* Signature.generate("hmac")
        const other = yield* Signature.generate("hmac")
        const secret = Redacted.value(made.secret)
        assert.notStrictEqual(secret, Redacted.value(other.secret))
        assert.strictEqual(made.publicKey, null)
        assert.match(secret, /^whsec_/)
        const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64")
        assert.strictEqual(key.length, 32)
        const expected = createHmac("sha256", key)
          .update(`${content.id}.${content.timestamp}.${content.body}`)
          .digest("base64")
        assert.strictEqual(yield* sign(secret, content), `v1,${expected}`)
      }),
    ),
  )

  it.effect("makes key pairs whose signatures the public key verifies", () =>
    holdsEffect(
      anyContent,
      (content) =>
        Effect.gen(function* () {
          const { publicKey, secret } = yield* Signature.generate("ed25519")
          assert.match(publicKey!, /^whpk_/)
          const point = Buffer.from(publicKey!.replace(/^whpk_/, ""), "base64")
          const key = createPublicKey({
            key: { kty: "OKP", crv: "Ed25519", x: point.toString("base64url") },
            format: "jwk",
          })
          const [version, signature] = (yield* sign(Redacted.value(secret), content)).split(",")
          const signed = Buffer.from(`${content.id}.${content.timestamp}.${content.body}`)
          assert.strictEqual(version, "v1a")
          assert.isTrue(verify(null, signed, key, Buffer.from(signature!, "base64")))
        }),
      10,
    ),
  )

  it.effect("puts one signature for each secret into the header, in their order", () =>
    Effect.gen(function* () {
      const secrets = [yield* Signature.generate("hmac"), yield* Signature.generate("hmac")]
      const signers = yield* Effect.forEach(secrets, ({ secret }) => Signature.signer(secret))
      const content = { id: "evt_1", timestamp: 1, body: "{}" }
      const expected = yield* Effect.forEach(secrets, ({ secret }) => sign(Redacted.value(secret), content))
      assert.strictEqual(yield* Signature.header(signers, content), expected.join(" "))
    }),
  )

  it.effect("signs with a seed alone as with the seed and its public key", () =>
    Effect.gen(function* () {
      const [vector] = vectors.v1a
      const { id, payload, signature, signingKey, timestamp } = vector!
      const seed = Buffer.from(signingKey.replace("whsk_", ""), "base64").subarray(0, 32)
      const alone = `whsk_${seed.toString("base64")}`
      assert.strictEqual(yield* sign(alone, { id, timestamp, body: payload }), signature)
    }),
  )

  it.effect.each([
    ["", "this is not a webhook secret"],
    ["whsec_", "this is not a webhook secret"],
    ["whsec_!", "this is not a webhook secret"],
    ["secret", "this is not a webhook secret"],
    ["c2VjcmV0", "this is not a webhook secret"],
    ["whsk_!", "this is not a webhook signing key"],
    ["whsk_AAAA", "this is not a webhook signing key"],
    [`whsk_${"A".repeat(40)}`, "this is not a webhook signing key"],
  ] as const)("takes %j for no secret, without repeating it", ([text, message]) =>
    Effect.gen(function* () {
      const defect = yield* Effect.flip(Effect.sandbox(Signature.signer(Redacted.make(text))))
      assert.strictEqual(Cause.pretty(defect).split("\n")[0], `TypeError: ${message}`)
      assert.notInclude(Cause.pretty(defect), "AAAA")
    }),
  )
})
