/**
 * Malicious payloads, and quantities at the limits: rows 43 and 44 of the fault matrix.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "../Cli.ts"
import { holdsAll } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { World } from "./World.ts"

const world = new World()
let customer = ""

beforeAll(async () => {
  await world.start()
  const made = await world.tenant.request("POST", "/customers", { name: "Ada", email: "ada@example.com" })
  customer = String(made["id"])
}, TIMEOUT)
afterAll(() => world.stop(), TIMEOUT)

const post = (path: string, body: string) =>
  Cli.call(world.servers[0]!.url, world.keys.test, "POST", `/v1${path}`, body)

const TABLES = [
  "customers",
  "usage_records",
  "usage_thresholds",
  "events",
  "webhook_endpoints",
  "webhook_pending",
]

const rowCounts = async (): Promise<unknown> => {
  const counts = TABLES.map((table) => `(select count(*) from billwright.${table})::text as ${table}`)
  return (await world.postgres.query(`select ${counts.join(", ")}`))[0]
}

const DEEP = 10_000

/** Strings that are invalid in every field. */
const BAD_TEXTS = {
  "a NUL": String.raw`"a\u0000b"`,
  "a lone high surrogate": String.raw`"\ud800"`,
  "a lone low surrogate": String.raw`"\udc00x"`,
}
const BAD_NUMBERS = {
  "1e309": "1e309",
  "-1e309": "-1e309",
  "2^53 + 1": "9007199254740993",
  "a fraction": "0.5",
  "a negative number": "-1",
  "a text": '"1"',
  NaN: "NaN",
}
const nested = `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`

const usage = (fields: string) => `{"customer_id":"${customer}","product_id":"p","unit":"u",${fields}}`

/** Invalid bodies, each with what is wrong with it. */
const poisons = (): ReadonlyArray<readonly [name: string, path: string, body: string]> => [
  ...Object.entries(BAD_TEXTS).flatMap(([name, text]) => [
    [`${name} in a name`, "/customers", `{"name":${text},"email":"a@example.com"}`] as const,
    [
      `${name} in metadata`,
      "/customers",
      `{"name":"A","email":"a@example.com","metadata":{"k":${text}}}`,
    ] as const,
    [`${name} in a product`, "/usage", usage(`"quantity":1,"product_id":${text}`)] as const,
    [`${name} in a key`, "/usage", usage(`"quantity":1,"idempotency_key":${text}`)] as const,
    [
      `${name} in data`,
      "/events",
      `{"type":"invoice.paid","data":{"invoice_id":${text},"customer_id":"c","amount":1,"currency":"EUR"}}`,
    ] as const,
    [
      `${name} in a description`,
      "/webhook_endpoints",
      `{"url":"http://127.0.0.1:1/","event_types":["*"],"description":${text}}`,
    ] as const,
  ]),
  ...Object.entries(BAD_NUMBERS).flatMap(([name, number]) => [
    [`${name} as a quantity`, "/usage", usage(`"quantity":${number}`)] as const,
    [
      `${name} as a quantity of a batch`,
      "/usage/batch",
      `{"records":[${usage('"quantity":1')},${usage(`"quantity":${number}`)}]}`,
    ] as const,
    [`${name} as an amount`, "/events", amount(number)] as const,
  ]),
  ["a key twice", "/usage", usage('"quantity":1,"quantity":2')],
  ["a key twice in data", "/events", amount('1,"amount":2')],
  ["__proto__", "/customers", '{"name":"A","email":"a@example.com","__proto__":{"isAdmin":true}}'],
  [
    "__proto__ in metadata",
    "/customers",
    '{"name":"A","email":"a@example.com","metadata":{"__proto__":{"a":1}}}',
  ],
  ["__proto__ alone", "/usage", '{"__proto__":null}'],
  ["depth in a body", "/customers", nested],
  ["depth in metadata", "/customers", `{"name":"A","email":"a@example.com","metadata":${nested}}`],
  ["depth in data", "/events", `{"type":"invoice.paid","data":${nested}}`],
  ["lists in lists", "/usage/batch", `{"records":${"[".repeat(DEEP)}${"]".repeat(DEEP)}}`],
  ["half a body", "/usage", usage('"quantity":1').slice(0, -2)],
  ["no body", "/usage", ""],
]

const amount = (number: string) =>
  `{"type":"invoice.paid","data":{"invoice_id":"in_1","customer_id":"c","amount":${number},"currency":"EUR"}}`

describe("a body", () => {
  it("is refused when it is malicious, and nothing is stored", ofRows(43), async () => {
    const before = await rowCounts()
    const answers: Array<readonly [string, number]> = []
    for (const [name, path, body] of poisons()) {
      answers.push([`${name}: ${path}`, (await post(path, body)).status])
    }
    assert.deepStrictEqual(
      answers.filter(([, status]) => status !== 400),
      [],
    )
    assert.deepStrictEqual(await rowCounts(), before)
    await holdsAll(world)
  })

  it("is exact with a quantity at a limit, and is refused beyond the limit", ofRows(44), async () => {
    const max = String(Number.MAX_SAFE_INTEGER)
    const taken = ["0", "-0", "1", "1.0", "1e3", max, max, max]
    for (const quantity of taken)
      assert.strictEqual((await post("/usage", usage(`"quantity":${quantity}`))).status, 201, quantity)
    const before = await rowCounts()
    const refused = [
      "9007199254740992",
      "9007199254740993",
      "1e16",
      "1e309",
      "-1",
      "1.5",
      "1e-1",
      "null",
      "true",
      '"1"',
      "[]",
    ]
    for (const quantity of refused) {
      assert.strictEqual((await post("/usage", usage(`"quantity":${quantity}`))).status, 400, quantity)
    }
    assert.deepStrictEqual(await rowCounts(), before)
    const { text } = await world.tenant.call("GET", `/usage?customer_id=${customer}&product_id=p&unit=u`)
    assert.include(text, `"total_quantity":${1002n + 3n * BigInt(Number.MAX_SAFE_INTEGER)},`)
    assert.include(text, `"record_count":${taken.length},`)
  })
})
