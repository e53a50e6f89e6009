import { BillwrightApi, ErrorBody, makeOpenApiDocument, RequiredPermission } from "@billwright/http/api"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Option } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import * as ApiServer from "../ApiServer.ts"
import { ERROR_STATUS, ajvOf, type Node, node, operationsOf } from "../Judge.ts"

const document = makeOpenApiDocument() as Node
const operations = operationsOf(document)
const jsonOf = (holder: unknown): Node => node(node(node(holder)["content"])["application/json"])
const bodyOf = (holder: unknown): Node => node(Object.values(node(node(holder)["content"]))[0])
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A schema with its path. References are resolved. */
const resolve = (schema: Node): Node =>
  typeof schema["$ref"] === "string"
    ? node(node(node(document["components"])["schemas"])[schema["$ref"].split("/").at(-1) ?? ""])
    : schema

/** JSON of any form. It is limited by the size of an event or a body. */
const isAnyJson = (schema: Node): boolean => Object.keys(schema).join() === "description"
const ANY_JSON = /\.(data|schema|example|from|to|quantities)$/
/** The fields of any object, in an audit record. They are limited by their size. */
const ANY_FIELDS = /\.(before|after)\|0$/

/** Whether a pattern only matches text of limited length: it matches the whole text and has no *, + or open repetition. */
const isBoundedPattern = (pattern: unknown): boolean =>
  typeof pattern === "string" && /^\^.*\$$/s.test(pattern) && !/[*+]|\{\d+,\}/.test(pattern)

/** All parts of a schema without a limit. */
const unbounded = (schema: Node, path: string): ReadonlyArray<string> => {
  const { $ref: reference, ...own } = resolve(schema)
  if (reference !== undefined) return [`${path}: a reference to a reference`]
  const has = (...keywords: ReadonlyArray<string>) =>
    keywords.every((keyword) => own[keyword] !== undefined) ? [] : [`${path}: ${keywords.join(", ")}`]
  if (isAnyJson(own) && ANY_JSON.test(path)) return []
  if (own["enum"] !== undefined || own["const"] !== undefined) return []
  if (own["anyOf"] !== undefined || own["oneOf"] !== undefined) {
    const parts = list(own["anyOf"] ?? own["oneOf"])
    return parts.flatMap((part, index) => unbounded(node(part), `${path}|${index}`))
  }
  switch (own["type"]) {
    case "string":
      // The bytes of a file have no length in characters.
      return isBoundedPattern(own["pattern"]) || own["format"] === "binary" ? [] : has("maxLength")
    case "integer":
    case "number":
      return has("minimum", "maximum")
    case "array":
      return [...has("items", "maxItems"), ...unbounded(node(own["items"]), `${path}[]`)]
    case "object": {
      const properties = Object.entries(node(own["properties"])).flatMap(([name, property]) =>
        unbounded(node(property), `${path}.${name}`),
      )
      if (own["additionalProperties"] === false) return properties
      if (ANY_FIELDS.test(path)) return has("maxProperties", "propertyNames")
      return [
        ...properties,
        ...has("maxProperties", "propertyNames", "additionalProperties"),
        ...unbounded(node(own["propertyNames"]), `${path}{}`),
        ...unbounded(node(own["additionalProperties"]), `${path}{*}`),
      ]
    }
    case "boolean":
    case "null":
      return []
    default:
      return [`${path}: type`]
  }
}

/** All fields of objects without a description. */
const undescribed = (schema: Node, path: string): ReadonlyArray<string> => {
  const own = resolve(schema)
  if (own["type"] === "array") return undescribed(node(own["items"]), `${path}[]`)
  const parts = list(own["anyOf"] ?? own["oneOf"])
  if (parts.length > 0) {
    return parts.flatMap((part, index) => undescribed(node(part), `${path}|${index}`))
  }
  return Object.entries(node(own["properties"])).flatMap(([name, property]) => {
    const field = node(property)
    const at = `${path}.${name}`
    const isPlain = field["enum"] !== undefined && list(field["enum"]).length === 1
    const isDescribed = field["description"] !== undefined || resolve(field)["description"] !== undefined
    return [...(isDescribed || isPlain ? [] : [at]), ...undescribed(field, at)]
  })
}

/** All schemas of requests, parameters, answers and headers, with their places. */
const schemas = operations.flatMap(({ id, node: operation }) => [
  ...(operation["requestBody"] === undefined
    ? []
    : [[`${id} body`, node(jsonOf(operation["requestBody"])["schema"])] as const]),
  ...list(operation["parameters"]).map(
    (parameter) => [`${id} ${String(node(parameter)["name"])}`, node(node(parameter)["schema"])] as const,
  ),
  ...Object.entries(node(operation["responses"])).flatMap(([status, response]) => [
    [`${id} ${status}`, node(bodyOf(response)["schema"])] as const,
    ...Object.entries(node(node(response)["headers"])).map(
      ([name, header]) => [`${id} ${status} ${name}`, node(node(header)["schema"])] as const,
    ),
  ]),
])

/** They call the payment provider without attempting a payment: a repeat is carried out, and changes nothing. */
const REPEATED = new Set([
  "cancelPayment",
  "startPaymentMethodSetup",
  "refreshPaymentMethod",
  "refreshRefund",
  "resolveRefund",
])

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1 and lies where it is served", () => {
    assert.strictEqual(document["openapi"], "3.1.0")
    assert.deepStrictEqual(
      list(document["servers"]).map((server) => node(server)["url"]),
      ["."],
    )
  })

  it.effect("is the served document", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const served = yield* api.expect(200, "GET", "/openapi.json", { key: null })
      assert.deepStrictEqual(served.body, document)
    }),
  )

  it("has every operation of the API", () => {
    const endpoints = Object.values(BillwrightApi.groups).flatMap((group) =>
      (Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>).map(
        ({ identifier, method, path }) => `${identifier} ${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
      ),
    )
    assert.deepStrictEqual(
      operations.map(({ id, method, path }) => `${id} ${method} ${path}`).toSorted(),
      endpoints.toSorted(),
    )
    assert.isAtLeast(operations.length, 35)
  })

  it("describes every operation: id, summary, description, tag, security", () => {
    const tags = list(document["tags"]).map((tag) => node(tag)["name"])
    const ids = new Set<unknown>()
    for (const { id, node: operation, path } of operations) {
      ids.add(operation["operationId"])
      for (const field of ["summary", "description"]) {
        assert.isTrue(typeof operation[field] === "string" && operation[field] !== "", `${id} ${field}`)
      }
      assert.lengthOf(list(operation["tags"]), 1, id)
      assert.include(tags, list(operation["tags"])[0], id)
      assert.deepStrictEqual(operation["security"], path.startsWith("/v1/") ? [{ apiKey: [] }] : [], id)
    }
    assert.strictEqual(ids.size, operations.length)
  })

  it("names the scope that an operation needs", () => {
    for (const group of Object.values(BillwrightApi.groups)) {
      for (const endpoint of Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>) {
        const scope = Context.getOption(endpoint.annotations, RequiredPermission)
        if (Option.isNone(scope)) continue
        const operation = operations.find(({ id }) => id === endpoint.identifier)
        assert.include(String(operation?.node["description"]), `\`${scope.value}\``)
      }
    }
  })

  it("documents every error that an operation can answer with", () => {
    for (const { id, method, node: operation, path } of operations) {
      const statuses = Object.keys(node(operation["responses"]))
      if (!path.startsWith("/v1/")) {
        assert.include(statuses, "200", id)
        continue
      }
      const expected = ["400", "401", "403", "429", "500", "503"]
      if (method !== "GET") expected.push("408", "409", "413", "415", "422")
      if (path.includes("{id}") || id === "recordUsage" || id === "publishEvent") expected.push("404")
      for (const status of expected) assert.include(statuses, status, id)
      // Only statuses of the error table, and no 405 for its own method.
      const known = Object.values(ERROR_STATUS).map(String)
      for (const status of statuses) {
        if (!status.startsWith("2"))
          assert.isTrue(known.includes(status) && status !== "405", `${id} ${status}`)
      }
    }
  })

  it("has the error codes of the contract", () => {
    const codes = Object.entries(ErrorBody.ERRORS).map(([code, { status }]) => [code, status])
    assert.deepStrictEqual(Object.fromEntries(codes), ERROR_STATUS)
  })

  it("has valid examples of every request and answer", () => {
    const ajv = ajvOf(document)
    const validate = (schema: Node, example: unknown, where: string) => {
      assert.isDefined(example, `${where}: no example`)
      const reference = schema["$ref"] === undefined ? schema : `document${String(schema["$ref"])}`
      assert.isTrue(ajv.validate(reference, example), `${where}: ${ajv.errorsText()}`)
    }
    for (const { id, node: operation } of operations) {
      if (operation["requestBody"] !== undefined) {
        const body = jsonOf(operation["requestBody"])
        validate(node(body["schema"]), body["example"], `${id} request`)
      }
      for (const [status, response] of Object.entries(node(operation["responses"]))) {
        const body = bodyOf(response)
        validate(node(body["schema"]), body["example"], `${id} ${status}`)
      }
    }
  }, 30_000)

  it("documents a required Request-Id for every answer, and Retry-After and Idempotent-Replayed where they occur", () => {
    for (const { id, method, node: operation, path } of operations) {
      // What a provider sends has no key of ours.
      const hasKey = method !== "GET" && path.startsWith("/v1/")
      for (const [status, response] of Object.entries(node(operation["responses"]))) {
        const headers = node(node(response)["headers"])
        assert.strictEqual(node(headers["Request-Id"])["required"], true, `${id} ${status}`)
        if (status === "429" || status === "503") assert.property(headers, "Retry-After", `${id} ${status}`)
        if (status.startsWith("2"))
          assert.strictEqual("Idempotent-Replayed" in headers, hasKey && !REPEATED.has(id), id)
      }
      const names = list(operation["parameters"]).map((parameter) => node(parameter)["name"])
      assert.strictEqual(names.includes("Idempotency-Key"), hasKey, id)
    }
  })

  it("says what the key of a request does that attempts a payment", () => {
    const described = operations
      .filter(({ node: operation }) =>
        list(operation["parameters"]).some((parameter) =>
          String(node(parameter)["description"]).includes("the same key attempts nothing again"),
        ),
      )
      .map(({ id }) => id)
    assert.sameMembers(described, ["payInvoice", "startInvoicePayment"])
  })

  it("has a limit for every field of requests and answers", () => {
    assert.isAbove(schemas.length, 400)
    assert.deepStrictEqual([...new Set(schemas.flatMap(([where, schema]) => unbounded(schema, where)))], [])
  })

  it("describes every field and parameter", () => {
    const fields = schemas.flatMap(([where, schema]) => undescribed(schema, where))
    const parameters = operations.flatMap(({ id, node: operation }) =>
      list(operation["parameters"])
        .filter((parameter) => node(parameter)["description"] === undefined)
        .map((parameter) => `${id} ${String(node(parameter)["name"])}`),
    )
    assert.deepStrictEqual([...new Set([...fields, ...parameters])], [])
  })

  it("refuses unknown fields in every object", () => {
    const components = node(node(document["components"])["schemas"])
    for (const [name, schema] of Object.entries(components)) {
      const { additionalProperties, oneOf, propertyNames } = node(schema)
      if (oneOf === undefined && propertyNames === undefined) {
        assert.strictEqual(additionalProperties, false, name)
      }
    }
  })
})

/** All schemas of the document at any depth, with their places. Examples are left out. */
const allSchemas = (value: unknown, path = "#"): ReadonlyArray<readonly [string, Node]> => {
  if (Array.isArray(value)) return value.flatMap((item, index) => allSchemas(item, `${path}/${index}`))
  if (typeof value !== "object" || value === null) return []
  const below = Object.entries(value)
    .filter(([key]) => key !== "example")
    .flatMap(([key, item]) => allSchemas(item, `${path}/${key}`))
  return [[path, node(value)], ...below]
}

describe("the document for generators of clients", () => {
  const everywhere = allSchemas(document)
  const schemaOf = (name: string): Node => node(node(node(document["components"])["schemas"])[name])
  const property = (name: string, field: string): Node => node(node(schemaOf(name)["properties"])[field])

  it("has the format int64 for every integer beyond 32 bits", () => {
    const integers = everywhere.filter(([, schema]) => schema["type"] === "integer")
    assert.isAbove(integers.length, 50)
    for (const [path, { format, maximum }] of integers) {
      const isWide = maximum === undefined || Number(maximum) > 2 ** 31 - 1
      assert.strictEqual(format, isWide ? "int64" : undefined, path)
    }
    assert.strictEqual(property("UsageSummary", "total_quantity")["format"], "int64")
    assert.include(property("UsageSummary", "total_quantity")["description"], "9223372036854775807")
  })

  it("has no enum of booleans", () => {
    const booleans = everywhere.filter(([, schema]) => schema["type"] === "boolean")
    assert.isAbove(booleans.length, 10)
    for (const [path, schema] of booleans) {
      assert.notProperty(schema, "enum", path)
      assert.notProperty(schema, "const", path)
    }
  })

  it("has only patterns that Python, Go and Java support", () => {
    const patterns = everywhere.filter(([, { pattern }]) => typeof pattern === "string")
    assert.isAbove(patterns.length, 50)
    for (const [path, { pattern }] of patterns) {
      // Unicode properties, look-around, back references, `\u` and named groups are not allowed.
      assert.notMatch(String(pattern), /\\[pPuk]|\\[1-9]|\(\?/, path)
    }
  })

  it("has a pattern of e-mail addresses that accepts the same as the server", () => {
    const pattern = new RegExp(String(property("CreateCustomer", "email")["pattern"]), "u")
    for (const email of ["a@b", "ada.lovelace+x@example.com", "ü@exämple.com", "a\u2603@b"]) {
      assert.match(email, pattern)
    }
    for (const email of ["a", "@b", "a@", "a@b@c", "a b@c", "a\0@b", "a@b\u007f", "a@\u009fb", "a\n@b"]) {
      assert.notMatch(email, pattern)
    }
  })

  it("documents unique items, schemes of URLs, and keys", () => {
    for (const name of ["CreateWebhookEndpoint", "UpdateWebhookEndpoint", "WebhookEndpoint"]) {
      assert.strictEqual(property(name, "event_types")["uniqueItems"], true, name)
      const scheme = new RegExp(String(property(name, "url")["pattern"]), "u")
      for (const url of ["https://a.example", "HTTP://localhost:3000"]) assert.match(url, scheme)
      for (const url of ["ftp://a.example", "a.example", "javascript://a"]) assert.notMatch(url, scheme)
    }
    const keys = everywhere.filter(([path]) => path.endsWith("/metadata/propertyNames"))
    assert.isAbove(keys.length, 5)
    for (const [path, names] of keys) {
      assert.strictEqual(names["pattern"], String.raw`^[^\x00]+$`, path)
      assert.deepStrictEqual(names["not"], { const: "__proto__" }, path)
    }
  })

  it("has every schema once", () => {
    const names = Object.keys(node(node(document["components"])["schemas"]))
    assert.deepStrictEqual(
      names.filter((name) => /_\d+$/.test(name)),
      [],
    )
  })
})

describe("the check for limits", () => {
  it("finds parts without a limit", () => {
    const bad: ReadonlyArray<Node> = [
      { type: "string" },
      { type: "string", pattern: "^a*$" },
      { type: "string", pattern: "a{3}" },
      { type: "integer", minimum: 0 },
      { type: "array", items: { type: "boolean" } },
      { type: "array", maxItems: 1, items: { type: "string" } },
      { type: "object", properties: {} },
      { type: "object", additionalProperties: { type: "string", maxLength: 1 }, maxProperties: 1 },
      { type: "object", additionalProperties: false, properties: { a: { anyOf: [{ type: "string" }] } } },
      {},
      { description: "any JSON, where none is expected" },
    ]
    for (const schema of bad) assert.isNotEmpty(unbounded(schema, "x"), JSON.stringify(schema))
  })
})
