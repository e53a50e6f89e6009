import { generateKey, Keyring, keyIdOf } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"

const SECRET = Redacted.make(`whsec_${btoa("secret")}`)
const PLACE = "live:acme:whe_1"
const old = Redacted.value(generateKey("old"))
const fresh = Redacted.value(generateKey("new"))

const withKeys =
  (text: string) =>
  <A, E>(use: (keyring: Keyring["Service"]) => Effect.Effect<A, E>) =>
    Effect.flatMap(Keyring, use).pipe(Effect.provide(Keyring.layer(Redacted.make(text))))

describe("changing over to another key, process by process,", () => {
  // The steps of docs/operations.md.
  const steps = [old, `${old},${fresh}`, `${fresh},${old}`, fresh]
  const seal = (keys: string) => withKeys(keys)((keyring) => keyring.seal(SECRET, PLACE))
  const open = (keys: string, sealed: string) => withKeys(keys)((keyring) => keyring.open(sealed, PLACE))

  it.effect("leaves every process able to open what the others seal", () =>
    Effect.gen(function* () {
      // Within a step some processes have the keys of before. The last step comes when all is sealed again.
      for (const [before, after] of [
        [steps[0]!, steps[1]!],
        [steps[1]!, steps[2]!],
      ] as const) {
        yield* open(before, yield* seal(after))
        yield* open(after, yield* seal(before))
      }
      yield* open(steps[3]!, yield* seal(steps[2]!))
    }),
  )

  it.effect(
    "can't begin with the new key in front: those that haven't got it yet open nothing that it seals",
    () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(open(steps[0]!, yield* seal(steps[2]!)))
        assert.strictEqual(error._tag, "SecretUnavailable")
      }),
  )
})

describe("Keyring", () => {
  it.effect("opens what it sealed, in its place", () =>
    withKeys(old)((keyring) =>
      Effect.gen(function* () {
        const sealed = yield* keyring.seal(SECRET, PLACE)
        assert.strictEqual(keyIdOf(sealed), "old")
        assert.notInclude(sealed, "c2VjcmV0")
        assert.strictEqual(Redacted.value(yield* keyring.open(sealed, PLACE)), Redacted.value(SECRET))
      }),
    ),
  )

  it.effect("opens nothing that was moved or changed", () =>
    withKeys(old)((keyring) =>
      Effect.gen(function* () {
        const sealed = yield* keyring.seal(SECRET, PLACE)
        const moved = yield* Effect.flip(keyring.open(sealed, "live:acme:whe_2"))
        assert.strictEqual(moved._tag, "SecretUnavailable")
        for (let i = "old.".length; i < sealed.length - 2; i += 7) {
          const other = sealed[i] === "A" ? "B" : "A"
          const changed = sealed.slice(0, i) + other + sealed.slice(i + 1)
          yield* Effect.flip(keyring.open(changed, PLACE))
        }
      }),
    ),
  )

  it.effect("never seals two alike", () =>
    withKeys(old)((keyring) =>
      Effect.gen(function* () {
        assert.notStrictEqual(yield* keyring.seal(SECRET, PLACE), yield* keyring.seal(SECRET, PLACE))
      }),
    ),
  )

  it.effect("seals with the first key and opens with all of them", () =>
    Effect.gen(function* () {
      const sealed = yield* withKeys(old)((keyring) => keyring.seal(SECRET, PLACE))
      yield* withKeys(`${fresh},${old}`)((keyring) =>
        Effect.gen(function* () {
          assert.strictEqual(keyring.primaryKeyId, "new")
          assert.strictEqual(keyIdOf(yield* keyring.seal(SECRET, PLACE)), "new")
          assert.strictEqual(Redacted.value(yield* keyring.open(sealed, PLACE)), Redacted.value(SECRET))
        }),
      )
      const error = yield* Effect.flip(withKeys(fresh)((keyring) => keyring.open(sealed, PLACE)))
      assert.strictEqual(error.message, 'a secret that was encrypted with the key "old" cannot be decrypted')
    }),
  )

  it.effect.each<[string, string]>([
    ["", "there are no keys"],
    [" , \n", "there are no keys"],
    ["nocolon", "entry 1 must be an id of letters, digits, - or _, then a colon and a key"],
    [`${old} a b:c`, "entry 2 must be an id of letters, digits, - or _, then a colon and a key"],
    ["plain", "entry 1 must be an id of letters, digits, - or _, then a colon and a key"],
    [`plain,${old}`, "entry 1 must be an id of letters, digits, - or _, then a colon and a key"],
    ["plain:AAAA", "entry 1 must be an id of letters, digits, - or _, then a colon and a key"],
    ["k:AAAA", 'the key "k" is not 32 bytes of base64'],
    ["k:!!!", 'the key "k" is not 32 bytes of base64'],
    [`${old},${old}`, 'the id "old" is used twice'],
    [Array.from({ length: 21 }, (_, i) => `k${i}:${old.slice(4)}`).join(","), "there are more than 20 keys"],
  ])("refuses %j", ([text, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(withKeys(text)(() => Effect.void))
      assert.strictEqual(error.message, `the encryption keys are not valid: ${problem}`)
    }),
  )

  it.effect("stores as it is without keys, in test mode alone unless told otherwise", () =>
    Effect.gen(function* () {
      const testOnly = yield* Effect.provide(Keyring, Keyring.layerTestOnly)
      const plain = yield* Effect.provide(Keyring, Keyring.layerPlain)
      assert.deepStrictEqual([testOnly.modes, plain.modes], [["test"], ["live", "test"]])
      const sealed = yield* plain.seal(SECRET, PLACE)
      assert.strictEqual(sealed, `plain.${Redacted.value(SECRET)}`)
      assert.strictEqual(Redacted.value(yield* testOnly.open(sealed, "elsewhere")), Redacted.value(SECRET))
      // Whoever writes the table could put a secret of their own there.
      const refused = yield* Effect.flip(withKeys(old)((keyring) => keyring.open(sealed, PLACE)))
      assert.match(refused.message, /^a stored secret is not encrypted, .* add "plain" after the keys/)
      // Keys may take what was stored before there were any, so that it can be encrypted.
      yield* withKeys(`${old},plain`)((keyring) =>
        Effect.gen(function* () {
          assert.deepStrictEqual([keyring.primaryKeyId, keyring.keyIds], ["old", ["old", "plain"]])
          assert.strictEqual(keyIdOf(yield* keyring.seal(SECRET, PLACE)), "old")
          assert.strictEqual(Redacted.value(yield* keyring.open(sealed, PLACE)), Redacted.value(SECRET))
        }),
      )
      yield* Effect.flip(plain.open("old.AAAA", PLACE))
    }),
  )
})
