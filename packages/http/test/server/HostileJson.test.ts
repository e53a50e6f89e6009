/**
 * Counts the work for hostile JSON: V8 counts how often each block of our code runs. Twice the text may need at most twice
 * the work, for any text. The work of the platform itself (its parser, regular expressions, `bigint`) isn't counted. That
 * is why the length of numbers is limited.
 */
import { Session } from "node:inspector/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

const session = new Session()
/** Both modules are loaded after counting has begun, because code that was compiled before has no counters. */
let parse: (text: string) => unknown
let isSame: (a: string, b: string) => boolean

beforeAll(async () => {
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  const Json = await import("../../src/server/Json.ts")
  const { Event } = await import("@billwright/core")
  parse = (text) => {
    try {
      return Json.parse(text)
    } catch (error) {
      assert.instanceOf(error, Json.JsonProblem)
      return undefined
    }
  }
  const eventOf = (data: string): Parameters<typeof Event.isSameContent>[0] =>
    ({ type: "a.b", customerId: null, endpointId: null, payload: `{"id":"evt_1","data":${data}}` }) as never
  isSame = (a, b) => Event.isSameContent(eventOf(a), eventOf(b))
})

afterAll(async () => {
  await session.post("Profiler.stopPreciseCoverage")
  session.disconnect()
})

/**
 * How many times blocks of our packages run during a function. V8 sometimes leaves a block out, so this counts
 * two runs and takes the larger number.
 */
const workOf = async (run: () => unknown): Promise<number> => Math.max(await count(run), await count(run))

const count = async (run: () => unknown): Promise<number> => {
  // Reading the counts resets them.
  await session.post("Profiler.takePreciseCoverage")
  run()
  const { result } = await session.post("Profiler.takePreciseCoverage")
  const ours = result.filter(({ url }) => /\/packages\/(core|http)\/src\//.test(url))
  assert.isAbove(ours.length, 0)
  return ours
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0)
}

/** Texts of about the given length. */
const repeat = (text: string, length: number): string => text.repeat(Math.floor(length / text.length))
const list = (item: string, length: number): string => `[${repeat(`${item},`, length)}0]`
const fields = (length: number, last: string): string => {
  const keys = Array.from({ length: Math.floor(length / 9) }, (_, index) => `"${100_000 + index}":1,`)
  return `{${keys.join("")}${last}}`
}
const SHAPES: Readonly<Record<string, (length: number) => string>> = {
  "a long number": (length) => repeat("9", length),
  "a long fraction": (length) => `[0.${repeat("0", length)}1]`,
  "a long exponent": (length) => `1e${repeat("9", length)}`,
  "numbers of the largest length": (length) => list("9".repeat(1_000), length),
  "whole numbers by exponents": (length) => list("1e39", length),
  "numbers with zeros at the end": (length) => list(`1.${"0".repeat(900)}`, length),
  "large doubles": (length) => list("1e308", length),
  "many keys": (length) => fields(length, `"":1`),
  "a key twice": (length) => fields(length, `"100000":1`),
  "deep nesting": (length) => list("[".repeat(30) + "]".repeat(30), length),
  "nesting without end": (length) => repeat("[", length),
  "keys of nested objects": (length) => list(`{"a":{"a":{}}}`, length),
  escapes: (length) => `["${repeat(String.raw`\u0000`, length)}"]`,
  backslashes: (length) => `["${repeat(String.raw`\\`, length)}"]`,
  "quotation marks": (length) => `["${repeat(String.raw`\"`, length)}"]`,
  "backslashes before quotation marks": (length) => `["${repeat(String.raw`\\\"`, length)}"]`,
  "a text that does not end": (length) => `["${repeat(String.raw`\"`, length)}`,
  "empty texts": (length) => list(`""`, length),
}

const LENGTH = 32_768
/** Twice the work, and a constant for each call. */
const TWICE = 2.05

describe("twice the text needs at most twice the work", () => {
  for (const [name, make] of Object.entries(SHAPES)) {
    it(`to parse ${name}`, async () => {
      const once = await workOf(() => parse(make(LENGTH)))
      const twice = await workOf(() => parse(make(2 * LENGTH)))
      assert.isAtMost(twice, TWICE * once + 100)
    })
  }

  for (const [name, make] of Object.entries(SHAPES)) {
    it(`to compare ${name}`, async () => {
      const compare = (length: number) => () => {
        const text = make(length)
        const isJson = parse(text) !== undefined
        if (isJson) assert.isTrue(isSame(text, ` ${text}`))
      }
      const once = await workOf(compare(LENGTH))
      const twice = await workOf(compare(2 * LENGTH))
      // Sorting the fields needs a little more than twice the work.
      assert.isAtMost(twice, 1.1 * TWICE * once + 100)
    })
  }

  it("to compare numbers that are longer than the limit", async () => {
    // Zeros inside a number. An old version searched for trailing zeros from each of them.
    const compare = (length: number) => () =>
      assert.isTrue(isSame(`1${repeat("0", length)}1`, `1${repeat("0", length)}10e-1`))
    const once = await workOf(compare(LENGTH))
    assert.isAtMost(await workOf(compare(2 * LENGTH)), TWICE * once + 100)
  })

  it("except for more keys than the limit, which need no more work", async () => {
    const most = await workOf(() => parse(fields(9 * 16_000, `"":1`)))
    assert.isAtMost(await workOf(() => parse(fields(10 * 9 * 16_000, `"":1`))), most)
  })

  it("which the counters show: they count each digit of a number", async () => {
    assert.isAtLeast(await workOf(() => parse(list("9".repeat(1_000), LENGTH))), LENGTH)
    const zeros = list(`1.${"0".repeat(900)}`, LENGTH)
    assert.isAtLeast(await workOf(() => isSame(zeros, ` ${zeros}`)), 2 * 0.9 * LENGTH)
  })
})
