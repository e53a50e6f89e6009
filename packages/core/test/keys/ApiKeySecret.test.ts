import { createHash, createHmac } from "node:crypto"
import { crc32 } from "node:zlib"
import { ApiKeySecret } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { fc, holds } from "../property.ts"

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** The CRC-32 of zip in base62, by the platform's own CRC-32. */
const checksum = (text: string): string => {
  let [value, digits] = [crc32(text), ""]
  for (let i = 0; i < 6; i++) {
    digits = BASE62[value % 62]! + digits
    value = Math.floor(value / 62)
  }
  return digits
}
const withChecksum = (body: string) => body + checksum(body)
const modeOf = (text: string) => ApiKeySecret.modeOf(Redacted.make(text))

const modes = ["live", "test"] as const
const characters = fc.constantFrom(...BASE62)
/** Secrets as the format says, made here, with the random part that fast-check likes. */
const secrets = fc
  .tuple(fc.constantFrom(...modes), fc.array(characters, { minLength: 32, maxLength: 32 }))
  .map(([mode, random]) => withChecksum(`${"sk"}_${mode}_${random.join("")}`))

describe("a secret", () => {
  it("is sk_, the mode, 32 random characters and 6 of CRC-32", () => {
    for (const mode of modes) {
      const secret = Redacted.value(ApiKeySecret.generate(mode))
      assert.match(secret, new RegExp(`^sk_${mode}_[0-9A-Za-z]{38}$`))
      assert.strictEqual(withChecksum(secret.slice(0, -6)), secret)
      assert.strictEqual(modeOf(secret), mode)
    }
  })

  it("is another one each time", () => {
    const made = Array.from({ length: 1_000 }, () => Redacted.value(ApiKeySecret.generate("test")))
    assert.strictEqual(new Set(made).size, 1_000)
  })

  it("has characters of which none is likelier than another", () => {
    const counts = new Map<string, number>()
    const secretsMade = 5_000
    for (let i = 0; i < secretsMade; i++) {
      for (const character of Redacted.value(ApiKeySecret.generate("live")).slice(8, 40)) {
        counts.set(character, (counts.get(character) ?? 0) + 1)
      }
    }
    assert.strictEqual([...counts.keys()].toSorted().join(""), BASE62)
    // χ² with 61 degrees of freedom is below 135 but for one run in some millions. Bytes taken modulo 62 make
    // eight characters a quarter likelier: here a χ² of more than 1,000.
    const expected = (secretsMade * 32) / 62
    const chiSquared = [...counts.values()].reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    )
    assert.isBelow(chiSquared, 135)
  })

  it("tells its mode when it is well-formed", () =>
    holds([secrets], (secret) => assert.strictEqual(modeOf(secret), secret.slice(3, 7))))

  it("is refused with any single character changed", () =>
    holds(
      [
        secrets,
        fc.nat({ max: 45 }),
        fc.oneof(characters, fc.constantFrom("_", "-", " ", "é", "\0", "\n", "０")),
      ],
      (secret, index, character) => {
        const changed = secret.slice(0, index) + character + secret.slice(index + 1)
        assert.strictEqual(modeOf(changed), changed === secret ? secret.slice(3, 7) : undefined)
      },
      2_000,
    ))

  it("is refused with every other character in every place", () => {
    const secret = withChecksum(`${"sk"}_live_${"0aZ9".repeat(8)}`)
    for (let index = 0; index < secret.length; index++) {
      for (const character of `${BASE62}_-`) {
        if (character === secret[index]) continue
        assert.isUndefined(modeOf(secret.slice(0, index) + character + secret.slice(index + 1)))
      }
    }
  })

  it("is refused with two neighbours swapped", () =>
    holds([secrets, fc.nat({ max: 44 })], (secret, index) => {
      const [a, b] = [secret[index]!, secret[index + 1]!]
      const swapped = secret.slice(0, index) + b + a + secret.slice(index + 2)
      if (a !== b) assert.isUndefined(modeOf(swapped))
    }))

  it("is refused in another form, even with a right checksum", () => {
    const random = "A".repeat(32)
    for (const body of [
      `sk_prod_${random}`,
      `sk_LIVE_${random}`,
      `pk_live_${random}`,
      `sk-live-${random}`,
      `sk_live_${random}A`,
      `sk_live_${random.slice(1)}`,
      `sk_live_${random.slice(1)}-`,
      ` sk_live_${random}`,
      random,
      "",
    ]) {
      assert.isUndefined(modeOf(withChecksum(body)), body)
    }
    assert.isUndefined(modeOf(`${withChecksum(`${"sk"}_live_${random}`)}\n`))
    assert.isUndefined(modeOf(""))
    assert.isUndefined(modeOf("sk_live_"))
  })

  it("is recognised by its last 4 characters", () => {
    const secret = ApiKeySecret.generate("live")
    assert.strictEqual(ApiKeySecret.hint(secret), Redacted.value(secret).slice(-4))
  })
})

describe("a digest", () => {
  const secret = Redacted.make(withChecksum(`${"sk"}_test_${"x".repeat(32)}`))

  it("is SHA-256 without a pepper, HMAC-SHA256 with one", () => {
    const text = Redacted.value(secret)
    const plain = createHash("sha256").update(text).digest("hex")
    assert.strictEqual(ApiKeySecret.digester(undefined)(secret), plain)
    for (const pepper of ["pepper é", "", "long".repeat(50)]) {
      const peppered = createHmac("sha256", pepper).update(text).digest("hex")
      assert.strictEqual(ApiKeySecret.digester(Redacted.make(pepper))(secret), peppered)
    }
  })

  it("is another one for each secret and for each pepper", () => {
    const digests = [
      ApiKeySecret.digester(undefined)(secret),
      ApiKeySecret.digester(Redacted.make("pepper"))(secret),
      ApiKeySecret.digester(Redacted.make("salt"))(secret),
      ApiKeySecret.digester(undefined)(ApiKeySecret.generate("test")),
      ApiKeySecret.digester(Redacted.make("pepper"))(ApiKeySecret.generate("test")),
    ]
    assert.strictEqual(new Set(digests).size, 5)
    assert.isTrue(digests.every((digest) => /^[0-9a-f]{64}$/.test(digest)))
  })

  it("is compared as a whole", () => {
    const digest = "0123456789abcdef".repeat(4)
    assert.isTrue(ApiKeySecret.isSameDigest(digest, `${digest.slice(0, 32)}${digest.slice(32)}`))
    assert.isTrue(ApiKeySecret.isSameDigest("", ""))
    for (let index = 0; index < digest.length; index++) {
      const other = `${digest.slice(0, index)}x${digest.slice(index + 1)}`
      assert.isFalse(ApiKeySecret.isSameDigest(digest, other))
      assert.isFalse(ApiKeySecret.isSameDigest(other, digest))
    }
    for (const other of ["", digest.slice(1), digest.slice(0, -1), `${digest}0`, digest.toUpperCase()]) {
      assert.isFalse(ApiKeySecret.isSameDigest(digest, other))
      assert.isFalse(ApiKeySecret.isSameDigest(other, digest))
    }
  })

  it("is read to its end by a comparison, wherever the difference lies", () => {
    const digest = "0123456789abcdef".repeat(4)
    /** A text that notes which of its characters are asked for. */
    const watched = (text: string) => {
      const places: Array<number> = []
      const charCodeAt = (place: number) => {
        places.push(place)
        return text.charCodeAt(place)
      }
      return { places, text: { length: text.length, charCodeAt } as unknown as string }
    }
    const changedAt = (place: number) => `${digest.slice(0, place)}x${digest.slice(place + 1)}`
    const all = Array.from(digest, (_, place) => place)
    for (const other of [digest, changedAt(0), changedAt(31), changedAt(63), "x".repeat(64)]) {
      const [a, b] = [watched(digest), watched(other)]
      assert.strictEqual(ApiKeySecret.isSameDigest(a.text, b.text), other === digest)
      assert.deepStrictEqual([a.places, b.places], [all, all])
    }
  })

  it("is compared as === does", () =>
    holds([fc.string({ maxLength: 3 }), fc.string({ maxLength: 3 })], (a, b) => {
      assert.strictEqual(ApiKeySecret.isSameDigest(a, b), a === b)
      assert.isTrue(ApiKeySecret.isSameDigest(a, a))
    }))
})
