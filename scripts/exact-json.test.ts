/**
 * Exact JSON exists three times: in core for all packages that may import it, and in `billwright/client` and in the
 * dashboard, which import no package. All three read and write the same.
 */
import { ExactJson as core } from "@billwright/core"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import * as client from "../packages/billwright/src/client/ExactJson.ts"
import * as dashboard from "../packages/dashboard/app/api/ExactJson.ts"

const SEED = 20_261_122
const holds = <T>(arbitrary: fc.Arbitrary<T>, property: (value: T) => void) =>
  fc.assert(fc.property(arbitrary, property), { seed: SEED, numRuns: 500 })

const modules = { core, client, dashboard }

const integers = fc.oneof(
  fc.bigInt(),
  fc.integer({ min: -3, max: 3 }).map((offset) => 2n ** 53n + BigInt(offset)),
  fc.integer({ min: -3, max: 3 }).map((offset) => -(2n ** 53n) + BigInt(offset)),
)
/** Numbers in a JSON text, often with many digits. */
const spelled = fc
  .tuple(integers.map(String), fc.constantFrom("", ".0", ".5", "e0", "E+21", "e-3", ".50e2"))
  .map((parts) => parts.join(""))
/** Not `-0`, which JSON writes as `0`. Nor a double that is an integer beyond 2^53, which is read as a `bigint`. */
const leaves = fc.oneof(
  fc.string(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((number) => !Number.isInteger(number) || Number.isSafeInteger(number))
    .map((number) => number + 0),
  fc.boolean(),
  fc.constant(null),
)
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    leaves,
    integers.filter((integer) => !Number.isSafeInteger(Number(integer))),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

for (const [name, { parse, stringify }] of Object.entries(modules)) {
  describe(`exact JSON of ${name}`, () => {
    it("reads what it wrote", () =>
      holds(values, (value) => assert.deepStrictEqual(parse(stringify(value)), value)))

    it("writes integers with all digits", () =>
      holds(integers, (integer) => assert.strictEqual(stringify({ a: [integer] }), `{"a":[${integer}]}`)))

    it("reads integers beyond 2^53 as bigint, and everything else as JSON.parse does", () =>
      holds(spelled, (text) => {
        const plain = JSON.parse(text) as number
        const isExact = Number.isSafeInteger(plain) || !/^-?\d+$/.test(text)
        assert.strictEqual(parse(text), isExact ? plain : BigInt(text))
      }))

    it("refuses text that is not JSON", () => assert.throws(() => parse("<html>"), SyntaxError))
  })
}

it("all write the same text", () =>
  holds(values, (value) => {
    const text = core.stringify(value)
    assert.strictEqual(client.stringify(value), text)
    assert.strictEqual(dashboard.stringify(value), text)
  }))

it("core reads the same digits as JSON.stringify writes", () =>
  holds(values, (value) => {
    const text = core.stringify(value)
    assert.strictEqual(JSON.stringify(core.parseRaw(text)), text)
  }))

it("core converts an integer to a value that JSON.stringify writes with all its digits", () =>
  holds(integers, (integer) =>
    assert.strictEqual(JSON.stringify({ a: core.integer(integer) }), `{"a":${integer}}`),
  ))
