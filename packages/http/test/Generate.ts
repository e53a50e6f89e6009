/**
 * Generates requests from the OpenAPI document: valid ones for every operation, and invalid ones.
 */
import { EventCatalogue } from "@billwright/core"
import * as fc from "fast-check"
import { type DocumentedOperation, type Node, node } from "./Judge.ts"

/** A generated request. Ids are placeholders such as `@cus:7`, which are replaced by ids that exist. */
export interface GeneratedRequest {
  readonly operation: DocumentedOperation
  readonly method: string
  readonly path: string
  readonly query: ReadonlyArray<readonly [string, string]>
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly hasKey: boolean
  /** How it was made invalid. `valid` if it was not. */
  readonly mutation: string
}

type Fields = Readonly<Record<string, unknown>>

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const number = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise)

const placeholder = (prefix: string) => fc.nat({ max: 1000 }).map((n) => `@${prefix}:${n}`)

const days = (month: string) =>
  fc.integer({ min: 1, max: 28 }).map((day) => `${month}-${String(day).padStart(2, "0")}`)

/** The meter that queries name. */
export const METER = { key: "calls", product_id: "api", unit: "call", dimensions: ["model", "kind"] }

/** Parameters with rules that the document can't express. */
const special: Readonly<Record<string, fc.Arbitrary<string>>> = {
  start_date: days("2026-10"),
  end_date: days("2026-11"),
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"),
  types: fc.constantFrom("invoice.paid", "usage.threshold,invoice.created"),
  meter: fc.constantFrom(METER.key, METER.key, METER.key, "unknown"),
}

/** Lists of parameters with rules that the document can't express. */
const specialLists: Readonly<Record<string, fc.Arbitrary<ReadonlyArray<string>>>> = {
  where: fc.array(fc.constantFrom("model:opus", "model:a:b", "kind:input"), { minLength: 1, maxLength: 3 }),
  group_by: fc.subarray([...METER.dimensions], { minLength: 1 }),
}

/** A query has either what a meter says or what needs a meter. */
const isOfMeter = (name: string): boolean => ["meter", "where", "group_by"].includes(name)
const isInsteadOfMeter = (name: string): boolean => ["product_id", "unit"].includes(name)

const eventType = fc.constantFrom(...EventCatalogue.builtIn.map(({ name }) => name))

/** Fields with rules that the document can't express. */
const specialFields: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  url: fc.constantFrom("https://example.com/hooks", "http://localhost:9/hooks?a=b", "http://127.0.0.1:4100"),
  type: eventType,
  types: fc.oneof(fc.constant(["*"]), fc.uniqueArray(eventType, { minLength: 1, maxLength: 3 })),
  event_types: fc.oneof(fc.constant(["*"]), fc.uniqueArray(eventType, { minLength: 1, maxLength: 3 })),
  at: fc.constantFrom("now", "period_end", "2026-12-24T00:00:00Z", "2026-12-31T23:30:00-05:00"),
  resume_at: fc.constantFrom("2026-12-24T00:00:00Z", "2030-01-01T00:00:00+01:00"),
  since: fc.constantFrom("2026-11-20T09:30:00Z", "1999-12-31T23:59:59.999Z"),
  until: fc.constantFrom("2026-11-21T09:30:00Z", "2030-01-01T00:00:00+01:00"),
  headers: fc.dictionary(
    fc.constantFrom("x-token", "authorization", "x-a.b", "cookie"),
    fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/u).filter((value) => value !== "***"),
    { maxKeys: 3, noNullPrototype: true },
  ),
}

/** Bodies whose fields depend on each other, such as data of an event type. */
const specialBodies: Readonly<Record<string, fc.Arbitrary<object>>> = {
  PublishEvent: fc
    .record({
      type: fc.constantFrom(...EventCatalogue.builtIn),
      rest: fc.record(
        {
          customer_id: fc.nat({ max: 1000 }).map((n) => `@cus:${n}`),
          idempotency_key: fc.string({ minLength: 1, maxLength: 3 }),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
    })
    .map(({ rest, type }) => ({ type: type.name, data: type.example, ...rest })),
}

/** A plan that may be pushed. */
export const EXAMPLE_PLAN = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    {
      key: "calls",
      model: "graduated",
      meter: "api_calls",
      tiers: [{ up_to: "1000", price: { EUR: "0.01" } }, { price: { EUR: "0.002" } }],
    },
  ],
}

const plan = fc
  .record({ name: fc.constantFrom("Pro", "Team 🚀"), key: fc.constantFrom("pro", "team"), price: fc.nat(99) })
  .map(({ key, name, price }) => ({ ...EXAMPLE_PLAN, key, name, minimum: { EUR: String(price) } }))

/** Bodies that name a plan, or quantities of one. */
const subscriptionBodies: Readonly<Record<string, fc.Arbitrary<object>>> = {
  CreateSubscription: fc.record(
    {
      customer_id: placeholder("cus"),
      plan: placeholder("key"),
      version: fc.constantFrom(1, 1, 2),
      currency: fc.constant("EUR"),
      quantities: fc.constantFrom({}, {}, { seats: "5" }),
      start_at: fc.constantFrom("2026-10-31T00:00:00Z", "2027-01-01T00:00:00+01:00"),
      anchor: fc.constantFrom("2026-11-01", "2026-01-31T09:30", "someday"),
      timezone: fc.constantFrom("UTC", "Europe/Berlin", "Mars/Olympus"),
      trial: fc.constantFrom(null, { days: 14 }, { end_at: "2027-02-01T00:00:00Z" }, {}),
      metadata: fc.constantFrom({}, { order: "4711" }),
    },
    { requiredKeys: ["customer_id", "plan"], noNullPrototype: true },
  ),
  ChangeSubscription: fc.record(
    {
      plan: placeholder("key"),
      at: fc.constantFrom("now", "period_end", "2026-12-24T00:00:00Z"),
      bill: fc.constantFrom("now", "next_invoice"),
      version: fc.constantFrom(1, 2),
    },
    { requiredKeys: ["plan", "at"], noNullPrototype: true },
  ),
}

/** Bodies whose parts the document does not describe. */
const planBodies: Readonly<Record<string, fc.Arbitrary<object>>> = {
  PushCatalog: fc.record(
    {
      plans: fc.uniqueArray(plan, { minLength: 1, maxLength: 2, selector: ({ key }) => key }),
      rate_cards: fc
        .record({ price: fc.nat(99) })
        .map(({ price }) => [
          { key: "llm", unit: "credit", decimals: 2, models: { large: { input: String(price) } } },
        ]),
    },
    { requiredKeys: ["plans"], noNullPrototype: true },
  ),
  PreviewPlan: fc.record({
    plan: fc.oneof(plan, placeholder("key")),
    quantities: fc.record(
      { calls: fc.oneof(fc.nat(), fc.nat().map(String)) },
      { requiredKeys: [], noNullPrototype: true },
    ),
  }),
}

const instants = fc.oneof(
  fc
    .date({ min: new Date(0), max: new Date("2026-11-21T09:30:00Z"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.constantFrom("2026-11-21T09:30:00+02:00", "1999-12-31t23:59:59.999999999z", "2024-02-29T12:00:00-11:30"),
)

/** Any character, alone or not to be shown. `fc.string` makes a table of all of them, if it makes them itself. */
const character = fc
  .integer({ min: 0, max: 0x10_ff_ff })
  .map((code) => String.fromCodePoint(code))
  .filter((made) => made.isWellFormed())

const text = (minLength: number, maxLength: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.string({ minLength, maxLength: Math.min(maxLength, 40) }) },
    { weight: 1, arbitrary: fc.string({ unit: character, minLength, maxLength: Math.min(maxLength, 40) }) },
    { weight: 1, arbitrary: fc.constant("x".repeat(maxLength)) },
  )

/** Values that a schema allows. The document's schemas use few keywords; another one is an error. */
const valid = (schemas: Node, reference: Node): fc.Arbitrary<unknown> => {
  const name = typeof reference["$ref"] === "string" ? reference["$ref"].split("/").at(-1) : undefined
  const specialBody = specialBodies[name ?? ""] ?? planBodies[name ?? ""] ?? subscriptionBodies[name ?? ""]
  if (specialBody !== undefined) return specialBody
  const schema = name === undefined ? reference : node(schemas[name])
  if (schema["enum"] !== undefined) return fc.constantFrom(...list(schema["enum"]))
  if (schema["anyOf"] !== undefined) {
    return fc.oneof(...list(schema["anyOf"]).map((part) => valid(schemas, node(part))))
  }
  switch (schema["type"]) {
    case "null":
      return fc.constant(null)
    case "boolean":
      return fc.boolean()
    case "integer":
      return fc.integer({
        min: number(schema["minimum"], 0),
        max: Math.min(number(schema["maximum"], 1000), Number.MAX_SAFE_INTEGER),
      })
    case "string": {
      const pattern = String(schema["pattern"] ?? "")
      const prefix = /^\^(cus|cpn|red|usg|thr|evt|dlv|whe|sub|inv)_/.exec(pattern)?.[1]
      if (prefix !== undefined) {
        return fc.oneof(
          { weight: 19, arbitrary: placeholder(prefix) },
          { weight: 1, arbitrary: fc.stringMatching(new RegExp(pattern, "u")) },
        )
      }
      if (schema["format"] === "date-time") return instants
      if (pattern.includes("@")) return fc.emailAddress()
      if (pattern !== "") return fc.stringMatching(new RegExp(pattern, "u"), { maxLength: 255 })
      return text(number(schema["minLength"], 0), number(schema["maxLength"], 40))
    }
    case "array":
      return fc.array(valid(schemas, node(schema["items"])), {
        minLength: number(schema["minItems"], 0),
        maxLength: Math.min(number(schema["maxItems"], 4), 4),
      })
    case "object": {
      if (schema["additionalProperties"] !== false) {
        return fc.dictionary(
          valid(schemas, node(schema["propertyNames"])) as fc.Arbitrary<string>,
          valid(schemas, node(schema["additionalProperties"])),
          { maxKeys: Math.min(number(schema["maxProperties"], 4), 4), noNullPrototype: true },
        )
      }
      const fields = Object.entries(node(schema["properties"]))
      return fc.record(
        Object.fromEntries(
          fields.map(([name, field]) => [name, specialFields[name] ?? valid(schemas, node(field))]),
        ),
        { requiredKeys: list(schema["required"]) as Array<string>, noNullPrototype: true },
      )
    }
    default:
      throw new Error(`no values are made for ${JSON.stringify(schema)}`)
  }
}

const CURSORS: ReadonlyArray<string> = ["starting_after", "ending_before"]

const PREFIXES: ReadonlyArray<readonly [string, string]> = [
  ["audit_log", "aud"],
  ["invoice_items", "itm"],
  ["invoice_proofs", "prf"],
  ["test_clocks", "clk"],
  ["credit_notes", "crn"],
  ["credit_grants", "cgr"],
  ["credit_entries", "cen"],
  ["payments", "pay"],
  ["payment_methods", "mtd"],
  ["refunds", "ref"],
  ["disputes", "dis"],
  ["coupons", "cpn"],
  ["redemptions", "red"],
  ["auto_top_ups", "atu"],
  ["top_ups", "ctu"],
  ["token_usages", "tku"],
  ["credit_alerts", "cal"],
  ["spend_alerts", "spa"],
  ["rate_cards", "rtc"],
  ["book_checks", "chk"],
  ["plan_migrations", "mig"],
  ["thresholds", "thr"],
  ["holds", "hld"],
  ["meters", "mtr"],
  ["records", "usg"],
  ["webhook_endpoints", "whe"],
  ["events", "evt"],
  ["deliveries", "dlv"],
  ["versions", "plv"],
  ["plans", "pln"],
  ["subscriptions", "sub"],
  ["invoices", "inv"],
]

const prefixIn = (text: string): string | undefined => PREFIXES.find(([part]) => text.includes(part))?.[1]

/** The kind of id that `{id}` in a path is. */
export const prefixOf = (path: string): string => prefixIn(path.split("/{id}")[0] ?? path) ?? "cus"

/** The kind of id that the cursors of a list are. */
export const listedAt = (path: string): string =>
  prefixIn(path.slice(path.lastIndexOf("}") + 1)) ?? prefixOf(path)

/** Valid requests by the document. */
const validRequest = (document: Node, operation: DocumentedOperation): fc.Arbitrary<GeneratedRequest> => {
  const schemas = node(node(document["components"])["schemas"])
  const parameters = list(operation.node["parameters"]).map(node)
  const inQuery = parameters.filter((parameter) => parameter["in"] === "query")
  const query = fc.record(
    Object.fromEntries(
      inQuery.map((parameter) => {
        const name = String(parameter["name"])
        if (CURSORS.includes(name)) return [name, placeholder(listedAt(operation.path))]
        return [name, specialLists[name] ?? special[name] ?? valid(schemas, node(parameter["schema"]))]
      }),
    ),
    {
      requiredKeys: inQuery
        .filter((parameter) => parameter["required"] === true)
        .map((parameter) => String(parameter["name"])),
      noNullPrototype: true,
    },
  )
  const body = node(node(node(operation.node["requestBody"])["content"])["application/json"])["schema"]
  const idempotencyKey = fc.option(fc.stringMatching(/^[!-~]{1,20}$/), { freq: 4, nil: undefined })
  return fc
    .record({
      id: placeholder(prefixOf(operation.path)),
      key: placeholder("key"),
      query,
      body: body === undefined ? fc.constant(undefined) : valid(schemas, node(body)),
      cursor: fc.constantFrom("none", "none", ...CURSORS),
      idempotencyKey: operation.method === "GET" ? fc.constant(undefined) : idempotencyKey,
    })
    .map((made) => ({
      operation,
      method: operation.method,
      path: operation.path
        .replace("{id}", made.id)
        .replace("{key}", made.key)
        .replace("{version}", "1")
        .replace("{line}", "0.0.base"),
      query: Object.entries(made.query as Fields)
        .filter(([name]) => !CURSORS.includes(name) || name === made.cursor)
        .filter(([name], _, all) =>
          all.some(([other]) => other === "meter") ? !isInsteadOfMeter(name) : !isOfMeter(name),
        )
        .flatMap(([name, value]) =>
          (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)] as const),
        ),
      headers: made.idempotencyKey === undefined ? {} : { "idempotency-key": made.idempotencyKey },
      body: made.body === undefined ? undefined : JSON.stringify(made.body),
      hasKey: true,
      mutation: "valid",
    }))
}

const WRONG_VALUES = [
  "null",
  "true",
  "0",
  "-1",
  "1.5",
  "1e309",
  "9007199254740993",
  "123456789012345678901234567890123456789",
  `""`,
  `"\\u0000"`,
  `"\\ud800"`,
  "[]",
  "{}",
  `"2026-02-30"`,
  `{"a":{"a":{"a":[[[[]]]]}}}`,
  JSON.stringify("x".repeat(5000)),
  JSON.stringify("😀".repeat(300)),
]

/** Replaces a value in a JSON text by raw JSON. */
const replaceValue = (body: string, at: number, value: string): string => {
  const places = [
    ...body.matchAll(/(?<=[:[,])("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null)(?=[,}\]])/g),
  ]
  const place = places[at % Math.max(1, places.length)]
  if (place === undefined) return value
  return body.slice(0, place.index) + value + body.slice(place.index + place[0].length)
}

const without = (body: string, at: number): string => {
  const parsed: unknown = JSON.parse(body)
  if (parsed === null || typeof parsed !== "object") return "{}"
  const names = Object.keys(parsed)
  const name = names[at % Math.max(1, names.length)]
  return JSON.stringify(Object.fromEntries(Object.entries(parsed).filter(([each]) => each !== name)))
}

type Mutate = (request: GeneratedRequest, n: number, noise: string) => Partial<GeneratedRequest>

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "SEARCH"]

const pick = <A>(items: ReadonlyArray<A>, n: number): A => items[n % items.length]!

const mutations: Readonly<Record<string, Mutate>> = {
  "a value of another kind": ({ body }, n) => ({
    body: replaceValue(body ?? "{}", n, pick(WRONG_VALUES, n * 7)),
  }),
  "a field missing": ({ body }, n) => ({ body: without(body ?? "{}", n) }),
  "an extra field": ({ body }, n, noise) => ({
    body: (body ?? "{}")
      .replace("{", `{${JSON.stringify(noise)}:${pick(WRONG_VALUES, n)},`)
      .replace(",}", "}"),
  }),
  "a body cut off": ({ body }, n) => ({ body: (body ?? "{}").slice(0, n % (body ?? "{}").length) }),
  "noise in the body": ({ body }, n, noise) => {
    const at = n % ((body ?? "").length + 1)
    return { body: `${(body ?? "").slice(0, at)}${noise}${(body ?? "").slice(at)}` }
  },
  "another body": (_, n) => ({ body: pick(WRONG_VALUES, n) }),
  "a huge body": ({ body }) => ({ body: (body ?? "{}").padEnd(1_100_000) }),
  "deep nesting": ({ body }, n) => ({
    body: replaceValue(body ?? "{}", n, `${"[".repeat(10_000)}${"]".repeat(10_000)}`),
  }),
  "another content type": (request, n) => ({
    body: request.body ?? "{}",
    headers: {
      ...request.headers,
      "content-type": pick(["text/plain", "application/xml", "application/json; charset=utf-16", "x"], n),
    },
  }),
  "an encoding": (request, n) => ({
    body: request.body ?? "{}",
    headers: { ...request.headers, "content-encoding": pick(["gzip", "br", "x"], n) },
  }),
  "another method": (_, n) => ({ method: pick(METHODS, n) }),
  "no key": () => ({ hasKey: false }),
  "an unknown parameter": ({ query }, _, noise) => ({ query: [...query, [noise, noise] as const] }),
  "a parameter twice": ({ query }, n) => ({
    query:
      query.length === 0 ? [["limit", "1"] as const, ["limit", "1"] as const] : [...query, pick(query, n)],
  }),
  "a parameter missing": ({ query }, n) => ({
    query: query.filter((_, index) => index !== n % query.length),
  }),
  "a parameter of another kind": ({ query }, n, noise) => ({
    query: query.map(([name, value], index) => [name, index === n % query.length ? noise : value] as const),
  }),
  "another id": ({ operation }, _, noise) => ({
    path: operation.path.replace("{id}", encodeURIComponent(noise) || "x"),
  }),
  "another path": ({ path }, n, noise) => ({
    path: `${path.slice(0, 1 + (n % path.length))}${encodeURIComponent(noise)}`,
  }),
  "a bad Idempotency-Key": (request, n) => ({
    headers: { ...request.headers, "idempotency-key": pick(["", "a b", "k".repeat(300), "\u00e9"], n) },
  }),
}

/** Requests to an operation. One in four is valid, and the others are invalid. */
export const requestTo = (document: Node, operation: DocumentedOperation): fc.Arbitrary<GeneratedRequest> =>
  fc
    .record({
      request: validRequest(document, operation),
      mutation: fc.option(fc.constantFrom(...Object.keys(mutations)), { freq: 3, nil: undefined }),
      n: fc.nat(),
      noise: fc.oneof(
        fc.string(),
        fc.constantFrom("__proto__", "constructor", "%00", "..", "' or 1=1 --", "\ud83d\ude00"),
      ),
    })
    .map(({ mutation, n, noise, request }) =>
      mutation === undefined
        ? request
        : { ...request, ...mutations[mutation]?.(request, n, noise.toWellFormed()), mutation },
    )
