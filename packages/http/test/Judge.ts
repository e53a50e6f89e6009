/**
 * Checks answers against the OpenAPI document that the server serves: the status is documented for the operation, the
 * body matches its schema, and the headers are present and well-formed. Requests that the document doesn't know must get
 * an error.
 */
import { assert } from "@effect/vitest"
import formats from "ajv-formats"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"

/** A JSON object of the document. */
export type Node = { readonly [key: string]: unknown }

/** A received answer. */
export interface RawAnswer {
  readonly status: number
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** An operation of the document. */
export interface DocumentedOperation {
  readonly id: string
  readonly method: string
  /** With parameters in braces. */
  readonly path: string
  readonly node: Node
}

/** The status and code of every error, from the contract. */
export const ERROR_STATUS: Readonly<Record<string, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
}

const REQUEST_ID = /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/
const MAX_MESSAGE_LENGTH = 2000
/** Paths that are served but not in the document. */
const PAGES: Readonly<Record<string, string>> = {
  "/openapi.json": "application/json",
  "/docs": "text/html; charset=utf-8",
}

export const node = (value: unknown): Node => (value ?? {}) as Node

/** All operations of a document. */
export const operationsOf = (document: Node): ReadonlyArray<DocumentedOperation> =>
  Object.entries(node(document["paths"])).flatMap(([path, item]) =>
    Object.entries(node(item)).map(([method, operation]) => ({
      id: String(node(operation)["operationId"]),
      method: method.toUpperCase(),
      path,
      node: node(operation),
    })),
  )

const makeAjv = (document: Node): Ajv2020 => {
  // To optimize the code of a validator takes longer than the few runs that it has.
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } })
  formats.default(ajv)
  ajv.addSchema(document, "document")
  return ajv
}

const ajvs = new WeakMap<Node, Ajv2020>()

/** A validator with the document's components, strict about formats. A document has one. */
export const ajvOf = (document: Node): Ajv2020 => {
  const ajv = ajvs.get(document) ?? makeAjv(document)
  ajvs.set(document, ajv)
  return ajv
}

const pointer = (...steps: ReadonlyArray<string>): string =>
  steps.map((step) => `/${encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("")

const parse = (text: string, what: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return assert.fail(`${what}: the body is not JSON: ${text.slice(0, 200)}`)
  }
}

export type Judge = (method: string, path: string, answer: RawAnswer) => void

/**
 * Checks the body of an error: exactly two fields (and its problems where all are listed), a code that matches the
 * status, and a message of limited length.
 */
export const assertErrorBody = (answer: RawAnswer, what: string): void => {
  const body = node(parse(answer.text, what))
  const fields = body["problems"] === undefined ? ["error", "message"] : ["error", "message", "problems"]
  assert.deepStrictEqual(Object.keys(body), fields, what)
  const { error, message } = body
  assert.strictEqual(ERROR_STATUS[String(error)], answer.status, `${what}: ${answer.text.slice(0, 200)}`)
  assert.isTrue(typeof message === "string" && message.length > 0, what)
  assert.isAtMost(Array.from(String(message)).length, MAX_MESSAGE_LENGTH, what)
  assert.notMatch(String(message), /\bat .*:\d+:\d+|node_modules|\.ts\b/, `${what}: a stack in the message`)
}

/** Makes a judge from a served document. */
export const makeJudge = (documentText: string): Judge => {
  const document = node(JSON.parse(documentText))
  const ajv = ajvOf(document)
  const validators = new Map<string, ValidateFunction>()
  const operations = operationsOf(document).map((operation) => ({
    ...operation,
    pattern: new RegExp(`^${operation.path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
  }))
  // Fixed segments come before parameters, so that /usage/records is not matched by /usage/{id}.
  operations.sort((a, b) => a.path.split("{").length - b.path.split("{").length)

  const validator = (ref: string): ValidateFunction => {
    const known = validators.get(ref) ?? ajv.compile({ $ref: `document#${ref}` })
    validators.set(ref, known)
    return known
  }

  const judgeHeaders = (answer: RawAnswer, what: string, documented: Node): void => {
    for (const [name, header] of Object.entries(documented)) {
      const value = answer.headers[name.toLowerCase()]
      if (value === undefined) {
        assert.notStrictEqual(node(header)["required"], true, `${what}: ${name} is missing`)
        continue
      }
      const schema = node(node(header)["schema"])
      const typed = schema["type"] === "integer" ? Number(value) : value
      assert.isTrue(ajv.validate(schema, typed), `${what}: ${name}: ${value}`)
    }
    for (const name of ["retry-after", "idempotent-replayed"]) {
      if (answer.headers[name] === undefined) continue
      const names = Object.keys(documented).map((header) => header.toLowerCase())
      assert.include(names, name, `${what}: an undocumented header`)
    }
  }

  return (method, target, answer) => {
    const what = `${method} ${target.slice(0, 200)} → ${answer.status}`
    assert.match(answer.headers["request-id"] ?? "", REQUEST_ID, `${what}: Request-Id`)
    const path = target.split("?", 1)[0] ?? ""
    const isHead = method === "HEAD"
    const routed = isHead ? "GET" : method
    const page = PAGES[path]
    if (page !== undefined && answer.status === 200) {
      assert.strictEqual(answer.headers["content-type"], page, what)
      return
    }
    if (isHead) assert.strictEqual(answer.text, "", what)
    // A path without parameters is no place for an id: `/subscriptions/preview`.
    const isFixed = operations.some((each) => each.path === path)
    const operation = operations.find(
      (each) => each.method === routed && (isFixed ? each.path === path : each.pattern.test(path)),
    )
    const content = node(node(node(operation?.node["responses"])[String(answer.status)])["content"])
    const [type = "application/json"] = Object.keys(content)
    assert.strictEqual(answer.headers["content-type"], type, what)
    if (operation === undefined) {
      assert.isTrue([401, 404, 405, 429, 500, 503].includes(answer.status), `${what} of no operation`)
      if (!isHead) assertErrorBody(answer, what)
      return
    }
    const responses = node(operation.node["responses"])
    const documented = node(responses[String(answer.status)])
    assert.property(
      responses,
      String(answer.status),
      `${what} is not documented: ${answer.text.slice(0, 300)}`,
    )
    judgeHeaders(answer, what, node(documented["headers"]))
    if (isHead || type !== "application/json") return
    if (answer.status >= 400) assertErrorBody(answer, what)
    const body = parse(answer.text, what)
    const validate = validator(
      pointer("paths", operation.path, operation.method.toLowerCase(), "responses", String(answer.status)) +
        pointer("content", "application/json", "schema"),
    )
    assert.isTrue(validate(body), `${what}: ${ajv.errorsText(validate.errors)}: ${answer.text.slice(0, 500)}`)
  }
}
