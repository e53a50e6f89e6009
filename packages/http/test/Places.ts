/**
 * Finds in the OpenAPI document where an operation takes ids of existing things.
 */
import { assert } from "@effect/vitest"
import { listedAt, prefixOf } from "./Generate.ts"
import { type DocumentedOperation, type Node, node } from "./Judge.ts"

/** A place for an id: in the path, a query parameter, a header, or a field of the body. */
export interface Place {
  readonly in: "path" | "query" | "header" | "body"
  /** The parameter's name, or the steps to the field. */
  readonly path: ReadonlyArray<string>
  /** The prefix of the id: `cus`. */
  readonly prefix: string
  readonly isRequired: boolean
}

const ID_PATTERN = /^\^([a-z]{3})_/
/** The cursors of lists, which are ids of listed items. */
const CURSORS: ReadonlyArray<unknown> = ["starting_after", "ending_before"]

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const prefixOfSchema = (schema: Node): string | undefined =>
  ID_PATTERN.exec(typeof schema["pattern"] === "string" ? schema["pattern"] : "")?.[1]

const inParameters = (operation: DocumentedOperation): ReadonlyArray<Place> =>
  list(operation.node["parameters"])
    .map(node)
    .flatMap((parameter) => {
      const place = parameter["in"] as Place["in"]
      const isOfPath = place === "path" || CURSORS.includes(parameter["name"])
      if (parameter["name"] === "version" || parameter["name"] === "line") return []
      const ofId = place === "path" ? prefixOf(operation.path) : listedAt(operation.path)
      const ofPath = parameter["name"] === "key" ? "key" : ofId
      const prefix = isOfPath ? ofPath : prefixOfSchema(node(parameter["schema"]))
      const isRequired = parameter["required"] === true
      return prefix === undefined
        ? []
        : [{ in: place, path: [String(parameter["name"])], prefix, isRequired }]
    })

/** Walks through a schema and its example. The example must have every possible id. */
const inSchema = (
  document: Node,
  schema: Node,
  example: unknown,
  path: ReadonlyArray<string>,
): ReadonlyArray<Place> => {
  const name = typeof schema["$ref"] === "string" ? schema["$ref"].split("/").at(-1) : undefined
  if (name !== undefined) {
    const schemas = node(node(document["components"])["schemas"])
    return inSchema(document, node(schemas[name]), example, path)
  }
  const prefix = prefixOfSchema(schema)
  if (prefix !== undefined) {
    // An id that may be missing, and is in the example.
    if (example === null) return []
    assert.isString(example, `the example has no ${path.join(".")}`)
    return [{ in: "body", path, prefix, isRequired: true }]
  }
  const parts = list(schema["anyOf"]).flatMap((part) => inSchema(document, node(part), example, path))
  const items =
    schema["items"] === undefined
      ? []
      : inSchema(document, node(schema["items"]), list(example)[0], [...path, "0"])
  const fields = Object.entries(node(schema["properties"])).flatMap(([field, value]) =>
    inSchema(document, node(value), node(example)[field], [...path, field]),
  )
  return [...parts, ...items, ...fields]
}

const bodyOf = (operation: DocumentedOperation): Node =>
  node(node(node(operation.node["requestBody"])["content"])["application/json"])

/** All places of an operation. */
export const placesOf = (document: Node, operation: DocumentedOperation): ReadonlyArray<Place> => {
  const { example, schema } = bodyOf(operation)
  const body = schema === undefined ? [] : inSchema(document, node(schema), example, [])
  return [...inParameters(operation), ...body]
}

/** A request of an operation. */
export interface PlacedRequest {
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly json?: unknown
}

/** A value for a required parameter that is not an id. */
const requiredValue = (schema: Node, what: string): string => {
  if (schema["enum"] !== undefined) return String(list(schema["enum"])[0])
  if (schema["format"] === "date") return "2026-11-21"
  if (schema["pattern"] === "^([A-Z]{3}|[a-z][a-z0-9_]{0,63})$") return "token"
  return assert.fail(`${what}: no value is known for it`)
}

const put = (value: unknown, path: ReadonlyArray<string>, id: string): unknown => {
  const [step, ...rest] = path
  if (step === undefined) return id
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === step ? put(item, rest, id) : item))
  return { ...node(value), [step]: put(node(value)[step], rest, id) }
}

/** Removes idempotency keys, so that the request is not a repeat of another one. */
const withoutKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutKeys)
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(value).filter(([name]) => name !== "idempotency_key")
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutKeys(field)]))
}

/**
 * Makes a request of an operation from its example. It has ids in all places that need one, and also in optional places
 * if an id is given.
 */
export const requestWith = (
  document: Node,
  operation: DocumentedOperation,
  idOf: (place: Place) => string | undefined,
): PlacedRequest => {
  const places = placesOf(document, operation)
  let path = operation.path
  let body = withoutKeys(bodyOf(operation)["example"])
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  for (const parameter of list(operation.node["parameters"]).map(node)) {
    const name = String(parameter["name"])
    const isPlace = places.some((place) => place.in === parameter["in"] && place.path[0] === name)
    if (isPlace || parameter["required"] !== true) continue
    // The first version, which every plan has, or a line of the first invoice.
    if (parameter["in"] === "path") {
      path = path.replace(`{${name}}`, name === "line" ? "0.0.seats" : "1")
      continue
    }
    query.set(name, requiredValue(node(parameter["schema"]), `${operation.id} ${name}`))
  }
  for (const place of places) {
    const id = idOf(place)
    if (id === undefined) continue
    const name = place.path[0] ?? ""
    if (place.in === "path") path = path.replace(`{${name}}`, id)
    else if (place.in === "query") query.set(name, id)
    else if (place.in === "header") headers[name.toLowerCase()] = id
    else body = put(body, place.path, id)
  }
  const target = query.size === 0 ? path : `${path}?${query.toString()}`
  return { target, headers, ...(body === undefined ? {} : { json: body }) }
}
