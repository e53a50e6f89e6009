/**
 * Both ways to hash are compared with WebCrypto's: texts of any characters, halves of surrogate pairs among them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Sha256 from "../../src/shared/Sha256.ts"
import { fc, holdsEffect } from "../property.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const toHex = (bytes: ArrayBuffer) => Buffer.from(bytes).toString("hex")

const expectedHex = (text: string) =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", bytesOf(text))),
    toHex,
  )

const expectedHmac = (key: Uint8Array<ArrayBuffer>, text: string) =>
  Effect.promise(async () => {
    const algorithm = { name: "HMAC", hash: "SHA-256" }
    const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"])
    return crypto.subtle.sign("HMAC", imported, bytesOf(text))
  })

const ways: Record<string, Sha256.Sha256> = { "the platform's": Sha256, "the portable": Sha256.portable }
const texts = fc.string({ unit: "binary", maxLength: 200 })
const keys = fc.uint8Array({ minLength: 1, maxLength: 100 }).map((key) => new Uint8Array(key))

describe.each(Object.entries(ways))("%s SHA-256", (_, way) => {
  it.effect("hashes any text", () =>
    holdsEffect(texts, (text) =>
      Effect.gen(function* () {
        assert.strictEqual(way.hex(text), yield* expectedHex(text))
      }),
    ),
  )

  it.effect("authenticates any text by any key", () =>
    holdsEffect(fc.tuple(keys, texts), ([key, text]) =>
      Effect.gen(function* () {
        const expected = yield* expectedHmac(key, text)
        const authenticate = way.hmac(key)
        assert.strictEqual(authenticate(text, "hex"), toHex(expected))
        // The same key again.
        assert.strictEqual(authenticate(text, "base64"), Buffer.from(expected).toString("base64"))
      }),
    ),
  )

  it("hashes half of a surrogate pair as what stands for it in UTF-8", () => {
    assert.strictEqual(way.hex("\ud800"), way.hex("\ufffd"))
  })
})
