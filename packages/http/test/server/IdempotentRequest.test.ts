/** The fingerprint differs for any two contents, even if they differ only deep inside. */
import { EventType } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import * as fc from "fast-check"
import * as IdempotentRequest from "../../src/server/IdempotentRequest.ts"
import * as ApiServer from "../ApiServer.ts"

const SEED = 20_261_122
const fingerprint = (payload: unknown, query: unknown = {}): Promise<string> =>
  Effect.runPromise(IdempotentRequest.fingerprint(query, payload))

const anything = EventType.make({
  name: "custom.order",
  description: "Data of any shape.",
  data: Schema.Any,
  example: null,
})

const content = fc.jsonValue({ maxDepth: 4 })
const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The same content, with the keys of every object in the opposite order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  )
}

/** Whether two values have the same content, with keys in any order. */
const same = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}

/** Puts a value deep inside objects and arrays. */
const buried = (value: unknown, path: ReadonlyArray<"object" | "array">): unknown =>
  path.reduceRight<unknown>(
    (inner, kind) => (kind === "object" ? { a: 1, in: inner, z: [] } : [0, inner, {}]),
    value,
  )

describe("the fingerprint of a request", () => {
  it("is the same for the same content with keys in any order", () =>
    fc.assert(
      fc.asyncProperty(content, async (value) => {
        assert.strictEqual(await fingerprint(reversed(value)), await fingerprint(value))
      }),
      { seed: SEED },
    ))

  it("differs for other content, at any depth", () =>
    fc.assert(
      fc.asyncProperty(
        content,
        content,
        fc.array(fc.constantFrom("object" as const, "array" as const), { maxLength: 5 }),
        async (a, b, path) => {
          fc.pre(!same(a, b))
          assert.notStrictEqual(await fingerprint(buried(a, path)), await fingerprint(buried(b, path)))
          assert.notStrictEqual(
            await fingerprint({}, buried(a, path)),
            await fingerprint({}, buried(b, path)),
          )
        },
      ),
      { seed: SEED },
    ))

  it("differs for contents that look similar", async () => {
    const instant = DateTime.makeUnsafe("2026-11-22T10:00:00Z")
    const alike: ReadonlyArray<unknown> = [
      undefined,
      {},
      [],
      [[]],
      [{}],
      { a: null, b: 1 },
      { a: {}, b: 1 },
      { a: [], b: 1 },
      { a: { b: 1 } },
      { a: {}, c: 1 },
      { "a.b": 1 },
      ["a", "b"],
      ["a,b"],
      [["a"], "b"],
      ["b", "a"],
      "1",
      1,
      true,
      "true",
      { at: instant },
      { at: DateTime.add(instant, { milliseconds: 1 }) },
      9_007_199_254_740_993n,
      9_007_199_254_740_992n,
      "9007199254740993",
    ]
    const prints = await Promise.all(alike.map((value) => fingerprint(value)))
    assert.strictEqual(new Set(prints).size, alike.length)
    assert.notStrictEqual(await fingerprint({}, { a: 1 }), await fingerprint({ a: 1 }, {}))
  })
})

describe("a repeat that differs deep in its body", () => {
  const url = "https://example.com/hooks"
  const changes = (customer: string): ReadonlyArray<readonly [string, object, object]> => {
    const usage = { customer_id: customer, product_id: "api", unit: "call", quantity: 1 }
    const event = (data: object) => ({ type: "custom.order", data })
    return [
      [
        "/v1/customers",
        { name: "A", email: "a@b.example", metadata: { plan: "a" } },
        { name: "A", email: "a@b.example", metadata: { plan: "b" } },
      ],
      ["/v1/usage/batch", { records: [usage, usage] }, { records: [usage, { ...usage, quantity: 2 }] }],
      ["/v1/usage/batch", { records: [usage, usage] }, { records: [usage] }],
      [
        "/v1/events",
        event({ order: { lines: [{ sku: "a" }] } }),
        event({ order: { lines: [{ sku: "b" }] } }),
      ],
      ["/v1/events", event({ order: { lines: [{}] } }), event({ order: { lines: [{ sku: null }] } })],
      [
        "/v1/webhook_endpoints",
        { url, event_types: ["invoice.paid"], headers: { "x-team": "a" } },
        { url, event_types: ["invoice.paid"], headers: { "x-team": "b" } },
      ],
      [
        "/v1/webhook_endpoints",
        { url, event_types: ["invoice.paid"] },
        { url, event_types: ["invoice.paid", "invoice.created"] },
      ],
    ]
  }

  it.effect("is refused as another request", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ billing: { events: { types: [anything] } } })
      const customer = yield* api.newCustomer()
      for (const [index, [path, body, other]] of changes(customer).entries()) {
        const headers = { "idempotency-key": `deep-${index}` }
        const first = yield* api.call("POST", path, { json: body, headers })
        assert.isBelow(first.status, 300, `${path}: ${first.text}`)
        yield* api.expect(422, "POST", path, { json: other, headers })
        const again = yield* api.expect(first.status, "POST", path, { json: reversed(body), headers })
        assert.strictEqual(again.text, first.text)
      }
    }),
  )
})
