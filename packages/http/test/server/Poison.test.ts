/**
 * Malicious requests. Each must get the right status, an error with exactly two fields and a Request-Id, and nothing may
 * be stored.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

/** The body of a new customer with a raw name, e-mail or metadata. */
const customer = (fields: { name?: string; email?: string; metadata?: string; more?: string } = {}) =>
  `{"name": ${fields.name ?? `"Ada"`}, "email": ${fields.email ?? `"ada@example.com"`}, "metadata": ${fields.metadata ?? "{}"}${fields.more ?? ""}}`

const bytes = (...parts: ReadonlyArray<string | ReadonlyArray<number>>): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))))

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`
const invalid = "the body is not valid JSON"
const storable = "must not contain NUL or a lone surrogate"

const fields = (count: number): string =>
  `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(",")}}`

/** A name, the body, and the beginning of the message. */
const bodies: ReadonlyArray<readonly [string, string | Uint8Array, string]> = [
  ["NUL, escaped", customer({ name: `"A\\u0000da"` }), `name ${storable}`],
  ["NUL, raw", customer({ name: `"A\0da"` }), invalid],
  ["NUL in a metadata value", customer({ metadata: `{"a": "\\u0000"}` }), `metadata.a ${storable}`],
  [
    "NUL in a metadata key",
    customer({ metadata: `{"a\\u0000": ""}` }),
    `metadata["a\\u0000"] is not a possible key`,
  ],
  ["NUL in an e-mail address", customer({ email: `"a\\u0000@b.c"` }), "email must"],
  ["a lone high surrogate, escaped", customer({ name: `"\\ud83d"` }), `name ${storable}`],
  ["a lone low surrogate, escaped", customer({ name: `"\\ude00x"` }), `name ${storable}`],
  ["surrogates in the wrong order", customer({ name: `"\\ude00\\ud83d"` }), `name ${storable}`],
  [
    "a lone surrogate in a key",
    customer({ metadata: `{"\\ud83d": ""}` }),
    `metadata["\\ud83d"] is not a possible key`,
  ],
  [
    "a lone surrogate as bytes (CESU)",
    bytes(`{"name": "`, [0xed, 0xa0, 0xbd], `"}`),
    "the body is not valid UTF-8",
  ],
  ["an overlong slash", bytes(`{"name": "`, [0xc0, 0xaf], `"}`), "the body is not valid UTF-8"],
  ["bad UTF-8", bytes(`{"name": "`, [0xff, 0xfe], `"}`), "the body is not valid UTF-8"],
  ["UTF-8 that ends early", bytes(`{"name": "`, [0xf0, 0x9f, 0x98]), "the body is not valid UTF-8"],
  ["UTF-16", Buffer.from(customer(), "utf16le"), invalid],
  [
    "__proto__ at the top",
    customer({ more: `, "__proto__": {"name": "x"}` }),
    "__proto__ is not a known field",
  ],
  [
    "__proto__ in metadata",
    customer({ metadata: `{"__proto__": "x"}` }),
    "metadata.__proto__ is not a possible key",
  ],
  ["constructor at the top", customer({ more: `, "constructor": {}` }), "constructor is not a known field"],
  ["toString at the top", customer({ more: `, "toString": 1` }), "toString is not a known field"],
  ["a key twice", customer({ more: `, "name": "Eve"` }), `the body has the key "name" twice`],
  [
    "a key twice in different spellings",
    customer({ more: `, "n\\u0061me": "Eve"` }),
    `the body has the key "name" twice`,
  ],
  ["a nested key twice", customer({ metadata: `{"a": "1", "a": "1"}` }), `the body has the key "a" twice`],
  [
    "a nested key twice in different spellings",
    customer({ metadata: `{"a": "1", "\\u0061": "2"}` }),
    `the body has the key "a" twice`,
  ],
  [
    "__proto__ twice",
    customer({ metadata: `{"__proto__": "1", "__proto__": "2"}` }),
    `the body has the key "__proto__" twice`,
  ],
  ["depth 10,000", nested(10_000), "the body is nested deeper than 32 levels"],
  ["depth 10,000 of objects", `${`{"a":`.repeat(10_000)}1${"}".repeat(10_000)}`, "the body is nested deeper"],
  ["depth 10,000, unclosed", "[".repeat(10_000), "the body is nested deeper than 32 levels"],
  ["depth 33", customer({ name: nested(32) }), "the body is nested deeper than 32 levels"],
  ["depth 32", customer({ name: nested(31) }), "name must be a string"],
  ["a BOM", `\ufeff${customer()}`, invalid],
  ["nothing", "", "the body is required"],
  ["blanks", " \n\t ", invalid],
  ["null", "null", "the body must be object"],
  ["an array", `[${customer()}]`, "the body must be object"],
  ["a string", `"name"`, "the body must be object"],
  ["a number", "1", "the body must be object"],
  ["true", "true", "the body must be object"],
  ["two values", `${customer()}${customer()}`, invalid],
  ["a trailing comma", `{"name": "Ada",}`, invalid],
  ["a comment", `{"name": "Ada"} // yes`, invalid],
  ["single quotes", `{'name': 'Ada'}`, invalid],
  ["NaN", `{"name": NaN}`, invalid],
  ["a form", "name=Ada&email=ada%40example.com", invalid],
  ["XML", `<?xml version="1.0"?><!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>`, invalid],
  ["an unknown field", customer({ more: `, "nmae": ""` }), "nmae is not a known field"],
  ["a huge string", customer({ name: `"${"x".repeat(900_000)}"` }), "name must be 1 to 256 characters"],
  ["90,000 keys", fields(90_000), "the body has more than 16000 keys"],
  ["90,000 keys of metadata", customer({ metadata: fields(90_000) }), "the body has more than 16000 keys"],
  ["9,000 keys of metadata", customer({ metadata: fields(9_000) }), "metadata.k0 must be a string"],
  [
    "a huge integer",
    customer({ name: "9".repeat(1_000_000) }),
    "the body has a number of more than 1000 digits",
  ],
  [
    "a huge fraction",
    customer({ name: `0.${"0".repeat(1_000_000)}1` }),
    "the body has a number of more than 1000 digits",
  ],
  [
    "a million backslashes",
    customer({ name: `"${"\\\\".repeat(500_000)}"` }),
    "name must be 1 to 256 characters",
  ],
]

layer(ApiServer.layer)("malicious bodies are refused", (it) => {
  it.effect.each([...bodies])("%s", ([, body, message]) =>
    Effect.gen(function* () {
      const api = yield* ApiServer.Shared
      const refused = yield* api.expect(400, "POST", "/v1/customers", { body })
      assert.strictEqual(refused.error, "invalid_request")
      assert.strictEqual(refused.message.slice(0, message.length), message)
      const { customers, idempotency } = yield* api.snapshot
      assert.lengthOf(customers, 0)
      assert.lengthOf(idempotency, 0)
    }),
  )

  it.effect("a body of 2 MB", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.Shared
      yield* api.expect(413, "POST", "/v1/customers", {
        body: customer({ name: `"${"x".repeat(2_000_000)}"` }),
      })
      assert.lengthOf((yield* api.snapshot).customers, 0)
    }),
  )
})

describe("harmless bodies", () => {
  it.effect("that only look malicious are stored unchanged", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const body = customer({
        name: `"{\\"name\\": 1, :[]}\\\\"`,
        metadata: `{"constructor": "x", "prototype": "y", "hasOwnProperty": "z", "a\\"b:{": "\\ud83d\\ude00"}`,
      })
      const created = yield* api.expect(201, "POST", "/v1/customers", { body })
      assert.strictEqual(created.at("name"), `{"name": 1, :[]}\\`)
      assert.deepStrictEqual(created.at("metadata"), {
        constructor: "x",
        prototype: "y",
        hasOwnProperty: "z",
        'a"b:{': "😀",
      })
    }),
  )
})

/** A quantity in the body, and the result. */
const quantities: ReadonlyArray<readonly [string, number | "refused"]> = [
  ["1e309", "refused"],
  ["-1e309", "refused"],
  ["1e400", "refused"],
  ["1e-400", "refused"],
  ["9007199254740991", 9007199254740991],
  ["9007199254740992", "refused"],
  ["9007199254740993", "refused"],
  ["9007199254740993.0", "refused"],
  ["9007199254740993e0", "refused"],
  ["9007199254740991.5", "refused"],
  ["9007199254740990.6", "refused"],
  ["9007199254740990.6e0", "refused"],
  ["90071992547409906e-1", "refused"],
  ["0.90071992547409906e16", "refused"],
  ["9007199254740991.0", 9007199254740991],
  ["90071992547409910e-1", 9007199254740991],
  ["0.99999999999999999999", "refused"],
  ["1.00000000000000000001", "refused"],
  ["1.00000000000000000000", 1],
  ["0.1", "refused"],
  ["-1", "refused"],
  ["-0.0000000000000000001", "refused"],
  ["18446744073709551617", "refused"],
  ["-0", 0],
  ["-0.0", 0],
  ["0e0", 0],
  ["0e999999999999", 0],
  ["1.0", 1],
  ["1e3", 1000],
  ["1.5e1", 15],
  ["1000E-3", 1],
  ["01", "refused"],
  ["+1", "refused"],
  ["1.", "refused"],
  [".5", "refused"],
  ["0x10", "refused"],
  ["1_000", "refused"],
  ["1n", "refused"],
  ["Infinity", "refused"],
  [`"1"`, "refused"],
]

layer(ApiServer.layer)("numbers", (it) => {
  it.effect.each([...quantities])("%s", ([quantity, expected]) =>
    Effect.gen(function* () {
      const api = yield* ApiServer.Shared
      const id = yield* api.newCustomer()
      const body = `{"customer_id": "${id}", "product_id": "api", "unit": "call", "quantity": ${quantity}}`
      const batch = { body: `{"records": [${body}]}` }
      if (expected === "refused") {
        yield* api.expect(400, "POST", "/v1/usage", { body })
        yield* api.expect(400, "POST", "/v1/usage/batch", batch)
        const { records } = yield* api.snapshot
        assert.isFalse(records.some(({ record }) => record.customerId === id))
      } else {
        const recorded = yield* api.expect(201, "POST", "/v1/usage", { body })
        assert.include(recorded.text, `"quantity":${expected},`)
        yield* api.expect(200, "POST", "/v1/usage/batch", batch)
      }
    }),
  )
})

/** A method, a path with its query, the status, and the beginning of the message. */
const targets: ReadonlyArray<readonly [string, string, number, string]> = [
  ["GET", "/v1/customers?colour=red", 400, "colour is not a known field"],
  ["GET", "/v1/customers?limit=1&limit=1", 400, "limit is given twice"],
  ["GET", "/v1/customers?limit=1&%6Cimit=2", 400, "limit is given twice"],
  ["GET", "/v1/customers?pageSize=1&pageSize=1", 400, "pageSize is given twice"],
  ["GET", "/v1/customers?__proto__=1", 400, "__proto__ is not a known field"],
  ["GET", "/v1/customers?constructor=1", 400, "constructor is not a known field"],
  ["GET", "/v1/customers?=1", 400, `[""] is not a known field`],
  ["GET", "/v1/customers?limit", 400, "limit must be an integer from 1 to 100"],
  ["GET", "/v1/customers?limit[]=1", 400, `["limit[]"] is not a known field`],
  ["GET", "/v1/customers?email=%ff%40x", 400, "the query is not percent-encoded UTF-8"],
  ["GET", "/v1/customers?email=%zz", 400, "the query is not percent-encoded UTF-8"],
  ["GET", "/v1/customers?email=%", 400, "the query is not percent-encoded UTF-8"],
  ["GET", "/v1/customers?email=a%00%40b", 400, "email must"],
  ["GET", "/v1/customers?email=%ED%A0%BD%40b", 400, "the query is not percent-encoded UTF-8"],
  ["GET", `/v1/customers?email=${"x".repeat(8200)}`, 400, "the address must have at most 8192 characters"],
  ["GET", `/v1/customers/${"x".repeat(8200)}`, 400, "the address must have at most 8192 characters"],
  ["GET", `/v1/customers?${"a=1&".repeat(2000)}`, 400, "a is given twice"],
  ["GET", "/v1/customers/", 404, "there is nothing at /v1/customers/"],
  ["GET", "/v1/customers/%00", 404, "no customer has the id \0"],
  ["GET", "/v1/customers/%ff", 404, "there is nothing at /v1/customers/%ff"],
  ["GET", "/v1/customers/%zz", 404, "there is nothing at /v1/customers/%zz"],
  ["GET", "/v1/customers/cus%5F1", 404, "there is nothing at /v1/customers/cus%5F1"],
  ["GET", "/v1/customers/%63us_1", 404, "there is nothing at /v1/customers/%63us_1"],
  ["GET", "/v1/customers/..", 404, "no customer has the id .."],
  ["GET", "/v1/customers/%2e%2e%2fusage", 404, "no customer has the id ../usage"],
  ["GET", "//v1/customers", 404, "there is nothing at //v1/customers"],
  ["GET", "/v1//customers", 404, "there is nothing at /v1//customers"],
  ["GET", "/v1/../v1/customers", 404, "there is nothing at /v1/../v1/customers"],
  ["GET", "/v1/customers;jsessionid=1", 404, "there is nothing at /v1/customers;jsessionid=1"],
  ["GET", "/v1/CUSTOMERS", 404, "there is nothing at /v1/CUSTOMERS"],
  ["GET", "/v1/__proto__", 404, "there is nothing at /v1/__proto__"],
  ["GET", "/__proto__", 404, "there is nothing at /__proto__"],
  ["GET", "/v1/customers#limit=1", 404, "there is nothing at /v1/customers#limit=1"],
  ["POST", "/v1/customers/__proto__/void", 404, "there is nothing at"],
]

layer(ApiServer.layer)("malicious addresses are refused", (it) => {
  const named = targets.map(
    ([method, path, ...rest]) => [`${method} ${path.slice(0, 60)}`, method, path, ...rest] as const,
  )

  it.effect.each(named)("%s", ([, method, path, status, message]) =>
    Effect.gen(function* () {
      const api = yield* ApiServer.Shared
      const refused = yield* api.expect(status, method, path)
      assert.strictEqual(refused.message.slice(0, message.length), message)
    }),
  )
})

describe("harmless addresses", () => {
  it.effect("may have empty parts in the query, and + for a space", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* api.expect(200, "GET", "/v1/customers?")
      yield* api.expect(200, "GET", "/v1/customers?&&limit=5&")
      const id = yield* api.newCustomer()
      yield* api.record(id, { unit: "API call" })
      const total = yield* api.expect(200, "GET", `/v1/usage?customer_id=${id}&unit=API+call`)
      assert.deepInclude(total.body, { total_quantity: 1, unit: "API call" })
    }),
  )
})
