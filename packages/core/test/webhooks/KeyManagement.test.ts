import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { type KeyManagement, KeyManagementFailed, Keyring, unwrapKeys } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"

/** A service with a key of its own, which never leaves it. Like a real one, it binds what it encrypts to a context. */
const makeService = () => {
  const master = randomBytes(32)
  const asked: Array<string> = []
  const wrap = (key: Uint8Array, keyId: string): string => {
    const iv = randomBytes(12)
    const cipher = createCipheriv("aes-256-gcm", master, iv).setAAD(Buffer.from(keyId))
    const sealed = Buffer.concat([cipher.update(key), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64")
  }
  const decrypt: KeyManagement["decrypt"] = (wrapped, keyId) =>
    Effect.try({
      try: () => {
        asked.push(keyId)
        const decipher = createDecipheriv("aes-256-gcm", master, wrapped.subarray(0, 12))
        decipher.setAAD(Buffer.from(keyId)).setAuthTag(wrapped.subarray(12, 28))
        return new Uint8Array(Buffer.concat([decipher.update(wrapped.subarray(28)), decipher.final()]))
      },
      catch: (error) => error,
    })
  return { asked, wrap, decrypt }
}

const SECRET = Redacted.make("whsec_c2VjcmV0")
const PLACE = "live:acme:whe_1"
const unwrap = (text: string, service: KeyManagement) => unwrapKeys(Redacted.make(text), service)

describe("keys that a key management service has encrypted", () => {
  it.effect("open what the same keys in plain seal, and the service is asked once for each", () =>
    Effect.gen(function* () {
      const { asked, decrypt, wrap } = makeService()
      const [first, second] = [randomBytes(32), randomBytes(32)]
      const plain = Redacted.make(`k1:${first.toString("base64")},k2:${second.toString("base64")}`)
      const sealed = yield* Effect.provide(
        Effect.flatMap(Keyring, ({ seal }) => seal(SECRET, PLACE)),
        Keyring.layer(plain),
      )
      const text = `k2:${second.toString("base64")}\nk1:wrapped:${wrap(first, "k1")} plain`
      const keys = yield* unwrap(text, { decrypt })
      yield* Effect.gen(function* () {
        const { keyIds, open, primaryKeyId } = yield* Keyring
        assert.strictEqual(primaryKeyId, "k2")
        assert.deepStrictEqual(keyIds, ["k2", "k1", "plain"])
        for (let n = 0; n < 3; n++) {
          assert.strictEqual(Redacted.value(yield* open(sealed, PLACE)), Redacted.value(SECRET))
        }
      }).pipe(Effect.provide(Keyring.layer(keys)))
      assert.deepStrictEqual(asked, ["k1"])
    }),
  )

  it.effect("fail with what the service said, without a key", () =>
    Effect.gen(function* () {
      const { decrypt, wrap } = makeService()
      const key = randomBytes(32)
      const refused = yield* Effect.flip(
        unwrap(`k1:wrapped:${wrap(key, "k1")}`, {
          decrypt: () => Effect.fail(new Error(`AccessDenied ${"!".repeat(1_000)}`)),
        }),
      )
      assert.instanceOf(refused, KeyManagementFailed)
      assert.match(
        refused.message,
        /^the key management service did not decrypt the key "k1": Error: AccessDenied !+$/,
      )
      assert.isBelow(refused.message.length, 400)

      // A wrapped key that was moved to another id.
      const moved = yield* Effect.flip(unwrap(`k2:wrapped:${wrap(key, "k1")}`, { decrypt }))
      assert.match(moved.message, /did not decrypt the key "k2"/)

      const short = yield* Effect.flip(unwrap(`k1:wrapped:${wrap(key.subarray(1), "k1")}`, { decrypt }))
      assert.match(short.message, /"k1": it did not answer 32 bytes$/)
      const text = yield* Effect.flip(
        unwrap("k1:wrapped:AAAA", { decrypt: () => Effect.succeed("x".repeat(32) as never) }),
      )
      assert.match(text.message, /it did not answer 32 bytes$/)
      const defect = yield* Effect.flip(
        unwrap("k1:wrapped:AAAA", {
          decrypt: () => {
            throw new TypeError("no client")
          },
        }),
      )
      assert.match(defect.message, /"k1": TypeError: no client$/)
    }),
  )

  it.effect("fail when the service takes longer than 10 s, and it is interrupted", () =>
    Effect.gen(function* () {
      let isInterrupted = false
      const decrypt = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (isInterrupted = true)))
      const waiting = yield* Effect.forkChild(Effect.flip(unwrap("k1:wrapped:AAAA", { decrypt })))
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.match((yield* Fiber.join(waiting)).message, /did not answer within 10 s$/)
      assert.isTrue(isInterrupted)
    }),
  )

  it.effect("that are no base64, or too many, are refused before the service is asked", () =>
    Effect.gen(function* () {
      const { asked, decrypt } = makeService()
      for (const [text, sentence] of [
        ["k1:wrapped:", /the wrapped key "k1" is not base64 of 1 to 8192 bytes$/],
        ["k1:wrapped:?", /the wrapped key "k1" is not base64/],
        [`k1:wrapped:${"A".repeat(12_000)}`, /the wrapped key "k1" is not base64/],
        [" , ", /there are no keys$/],
        [Array.from({ length: 21 }, (_, n) => `k${n}:wrapped:AAAA`).join(","), /more than 20 keys$/],
      ] as const) {
        const error = yield* Effect.flip(unwrap(text, { decrypt }))
        assert.strictEqual(error._tag, "InvalidKeyring")
        assert.match(error.message, sentence)
      }
      assert.deepStrictEqual(asked, [])
    }),
  )

  it.effect("are refused without a service", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Effect.provide(Keyring, Keyring.layer(Redacted.make("k1:wrapped:AAAA"))),
      )
      assert.match(error.message, /the key "k1" is wrapped, and no key management service was given$/)
    }),
  )
})
