import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Json from "../../src/server/Json.ts"

const SEED = 20_261_121
const check = <A>(arbitrary: fc.Arbitrary<A>, holds: (value: A) => void, numRuns = 300): void =>
  fc.assert(fc.property(arbitrary, holds), { seed: SEED, numRuns })

/** The reason why a text is refused. */
const problemOf = (text: string): string => {
  try {
    Json.parse(text)
  } catch (error) {
    assert.instanceOf(error, Json.JsonProblem)
    return (error as Error).message
  }
  return assert.fail(`was accepted: ${text.slice(0, 200)}`)
}

type Value = null | boolean | number | string | ReadonlyArray<Value> | { readonly [key: string]: Value }

/** Text that looks like structure: quotation marks, backslashes, braces, colons. */
const trickyText = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', "\\", "{", "}", "[", "]", ":", ",", "1", "e", "😀", "\u2028") }),
  fc.string({ unit: "binary" }),
)

const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      trickyText,
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(trickyText, tie("value"), { maxKeys: 4 }),
  ),
})).value

describe("parse", () => {
  it("returns the same as JSON.parse, with any white space", () => {
    check(fc.tuple(value, fc.constantFrom("", " ", "\t", "  ")), ([input, space]) => {
      const text = JSON.stringify(input, undefined, space)
      assert.deepStrictEqual(Json.parse(text), JSON.parse(text))
    })
  })

  it("refuses the same texts as JSON.parse, with a JsonProblem", () => {
    const damage = fc.tuple(
      value,
      fc.nat(),
      fc.constantFrom("", '"', "\\", "{", "]", ":", ",", "0", "-", "e", "\0"),
    )
    check(damage, ([input, at, insert]) => {
      const text = JSON.stringify(input)
      const index = at % (text.length + 1)
      const damaged = text.slice(0, index) + insert + text.slice(index + 1)
      let isJson = true
      try {
        JSON.parse(damaged)
      } catch {
        isJson = false
      }
      if (!isJson) assert.match(problemOf(damaged), /is not valid JSON|nested deeper/)
    })
  })

  it("keeps integers of any length exactly", () => {
    check(fc.bigInt(), (integer) => {
      const expected = Number.isSafeInteger(Number(integer)) ? Number(integer) : integer
      assert.deepStrictEqual(Json.parse(`{"a": [${integer}]}`), { a: [expected] })
    })
  })

  it("refuses numbers of more than a thousand digits, and says where", () => {
    const digits = (count: number) => "9".repeat(count)
    for (const text of [digits(1_000), `-${digits(1_000)}`])
      assert.strictEqual(Json.parse(text), BigInt(text))
    assert.deepStrictEqual(Json.parse(`["${digits(1_001)}", 0.5${"0".repeat(998)}]`), [digits(1_001), 0.5])
    const problem = "has a number of more than 1000 digits, up to character"
    assert.strictEqual(problemOf(digits(1_001)), `${problem} 1001`)
    assert.strictEqual(problemOf(`{"a":1,"b":-${digits(1_000_000)}}`), `${problem} 1013`)
    assert.strictEqual(problemOf(`[0.${digits(1_000)}]`), `${problem} 1003`)
    assert.strictEqual(problemOf(`[1e${digits(1_001)}]`), `${problem} 1004`)
  })

  it("keeps whole numbers exactly in any spelling", () => {
    const whole: ReadonlyArray<readonly [string, bigint | number]> = [
      ["1e21", 10n ** 21n],
      ["1E+21", 10n ** 21n],
      ["-1e21", -(10n ** 21n)],
      ["1e23", 10n ** 23n],
      ["1.5e21", 15n * 10n ** 20n],
      ["123456789.123456789123e20", 12_345_678_912_345_678_912_300_000_000n],
      ["9007199254740993.0", 9_007_199_254_740_993n],
      ["90071992547409930e-1", 9_007_199_254_740_993n],
      ["9.9e39", 99n * 10n ** 38n],
      ["1e3", 1_000],
      ["0e999999999", 0],
      ["-0.0e0", -0],
    ]
    for (const [text, value] of whole) assert.strictEqual(Json.parse(text), value, text)
    // From 1e40 on, numbers are not written out. Otherwise a body of such numbers could become very long.
    for (const text of ["1e40", "-1e40", "1e308", "1.5e300", `1${"0".repeat(40)}.5`])
      assert.strictEqual(Json.parse(text), Number(text))
    assert.strictEqual(Json.parse("1e999999999"), Number.POSITIVE_INFINITY)
    assert.strictEqual(Json.parse("-1e400"), Number.NEGATIVE_INFINITY)
  })

  it("never reads a fraction as a whole number", () => {
    const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength })
    const number = fc.tuple(
      fc.bigInt({ min: 0n, max: 10n ** 20n }),
      digits(20),
      fc.integer({ min: -25, max: 5 }),
    )
    check(
      number,
      ([integer, fraction, exponent]) => {
        const text = `${integer}${fraction === "" ? "" : `.${fraction}`}e${exponent}`
        // value × 10^scale, as integers
        const shift = exponent - fraction.length
        const mantissa = BigInt(`${integer}${fraction}`)
        const isWhole = shift >= 0 || mantissa % 10n ** BigInt(-shift) === 0n
        const parsed = Json.parse(text)
        assert.strictEqual(typeof parsed === "bigint" || Number.isSafeInteger(parsed), isWhole, text)
        if (!isWhole) return
        const exact = shift >= 0 ? mantissa * 10n ** BigInt(shift) : mantissa / 10n ** BigInt(-shift)
        assert.strictEqual(BigInt(parsed as number | bigint), exact, text)
      },
      1000,
    )
  })

  it("finds a duplicate key of an object, at any depth and in any spelling", () => {
    const escaped = (key: string) =>
      `"${Array.from({ length: key.length }, (_, i) => `\\u${key.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")}"`
    /** Writes a value. The object with number `target` gets its first key twice. */
    const write = (input: Value, state: { target: number; key: string | undefined }): string => {
      if (Array.isArray(input)) return `[${input.map((item: Value) => write(item, state)).join(",")}]`
      if (input === null || typeof input !== "object") return JSON.stringify(input)
      const entries = Object.entries(input)
      const isTarget = entries.length > 0 && state.target-- === 0
      const members = entries.map(([key, item]) => `${JSON.stringify(key)}:${write(item, state)}`)
      if (isTarget) {
        state.key = entries[0]?.[0]
        members.push(`${escaped(state.key ?? "")}:0`)
      }
      return `{${members.join(",")}}`
    }
    let found = 0
    check(fc.tuple(value, fc.nat({ max: 2 })), ([input, target]) => {
      const state: { target: number; key: string | undefined } = { target, key: undefined }
      const text = write(input, state)
      if (state.key === undefined) return
      found++
      assert.strictEqual(problemOf(text), `has the key ${JSON.stringify(state.key)} twice in one object`)
    })
    assert.isAtLeast(found, 50)
  })

  it("accepts the same key in different objects", () => {
    const text = `[{"a": {"a": [{"a": 1}, {"a": 2}]}, "b": {"a": ":"}}, {"a": "{\\"a\\":1,\\"a\\":2}"}]`
    assert.deepStrictEqual(Json.parse(text), JSON.parse(text))
  })

  it("checks the depth before parsing, and ignores brackets in strings", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
    assert.deepStrictEqual(Json.parse(nested(32)), JSON.parse(nested(32)))
    assert.strictEqual(problemOf(nested(33)), "is nested deeper than 32 levels")
    assert.strictEqual(problemOf("[".repeat(1_000_000)), "is nested deeper than 32 levels")
    assert.strictEqual(problemOf(`{"a":`.repeat(33)), "is nested deeper than 32 levels")
    assert.deepStrictEqual(Json.parse(`["${"[{".repeat(100)}"]`), ["[{".repeat(100)])
    assert.deepStrictEqual(Json.parse(`[${"[],".repeat(1000)}{}]`), [
      ...Array.from({ length: 1000 }, () => []),
      {},
    ])
  })

  it("counts the keys of all objects before it parses, and not in strings", () => {
    const objects = (count: number) =>
      `[${Array.from({ length: count / 2 }, () => `{"a":{"b":":"}}`).join()}]`
    assert.deepStrictEqual(Json.parse(objects(Json.MAX_KEYS)), JSON.parse(objects(Json.MAX_KEYS)))
    assert.strictEqual(problemOf(objects(Json.MAX_KEYS + 2)), "has more than 16000 keys")
    assert.strictEqual(problemOf(`{${`"a":1,`.repeat(Json.MAX_KEYS + 1)}`), "has more than 16000 keys")
    assert.deepStrictEqual(Json.parse(`["${":".repeat(20_000)}"]`), [":".repeat(20_000)])
  })

  it("sets no prototype", () => {
    const parsed = Json.parse(`{"__proto__": {"isAdmin": true}, "n": 12345678901234567890}`) as object
    assert.strictEqual(Object.getPrototypeOf(parsed), Object.prototype)
    assert.deepStrictEqual(Object.keys(parsed), ["__proto__", "n"])
  })
})
