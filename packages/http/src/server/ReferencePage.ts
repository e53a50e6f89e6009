/**
 * Renders the API reference, one static page, from the OpenAPI document.
 */
import { Predicate } from "effect"
import type { Json } from "../api/JsonSchema.ts"
import { REFERENCE_STYLE } from "./ReferenceStyle.ts"

type Node = { readonly [key: string]: Json }

const node = (value: Json | undefined): Node =>
  Predicate.isObject(value) && !Array.isArray(value) ? (value as Node) : {}
const nodes = (value: Json | undefined): ReadonlyArray<Node> => (Array.isArray(value) ? value.map(node) : [])
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "")

const escape = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** Escapes a text and marks `code`. */
const prose = (value: string): string => escape(value).replace(/`([^`]+)`/g, "<code>$1</code>")

/** Splits a text into paragraphs at empty lines. */
const paragraphs = (value: string): string =>
  value
    .split("\n\n")
    .map((paragraph) => `<p>${prose(paragraph)}</p>`)
    .join("")

const pretty = (value: Json): string => `<pre>${escape(JSON.stringify(value, undefined, 2))}</pre>`

const range = (schema: Node, low: string, high: string, unit: string): string => {
  const [from, to] = [schema[low], schema[high]]
  if (from === undefined && to === undefined) return ""
  if (from === undefined) return `at most ${to}${unit}`
  return to === undefined ? `from ${from}${unit}` : `${from} to ${to}${unit}`
}

const row = (name: string, isRequired: boolean, type: string, description: string): string =>
  `<tr><th scope="row"><code>${escape(name)}</code>${isRequired ? ' <span class="required">required</span>' : ""}</th><td>${escape(type)}</td><td>${prose(description)}</td></tr>`

const table = (caption: string, rows: ReadonlyArray<string>): string =>
  rows.length === 0
    ? ""
    : `<table><caption>${caption}</caption><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table>`

/** The content of an answer or a body, of any media type. */
const contentOf = (holder: Node): Node => node(Object.values(node(holder["content"]))[0])

const exampleOf = (content: Node): string => {
  const example = content["example"]
  return typeof example === "string" ? `<pre>${escape(example)}</pre>` : pretty(example ?? {})
}

/** Describes schemas in words. `schemas` are the components that they refer to. */
const makeWords = (schemas: Node) => {
  const resolve = (schema: Node): Node => {
    const ref = text(schema["$ref"])
    return ref === "" ? schema : node(schemas[ref.split("/").at(-1) ?? ""])
  }

  /** Describes the type of a value: `string, 1 to 256 characters`. */
  const typeOf = (reference: Node): string => {
    const schema = resolve(reference)
    const alternatives = nodes(schema["anyOf"])
    if (alternatives.length > 0) return alternatives.map(typeOf).join(" or ")
    const values = Array.isArray(schema["enum"]) ? schema["enum"] : [schema["const"] ?? []].flat()
    if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(" or ")
    if (schema["type"] === "array") return `array of ${typeOf(node(schema["items"]))}`
    const bounds = [
      range(schema, "minLength", "maxLength", " characters"),
      range(schema, "minimum", "maximum", ""),
    ]
    const kind = text(schema["format"]) || text(schema["type"]) || "JSON"
    return [kind, ...bounds].filter((part) => part !== "").join(", ")
  }

  const fieldRows = (reference: Node): ReadonlyArray<string> => {
    const schema = resolve(reference)
    const required = Array.isArray(schema["required"]) ? schema["required"] : []
    return Object.entries(node(schema["properties"])).map(([name, property]) =>
      row(
        name,
        required.includes(name),
        typeOf(node(property)),
        text(resolve(node(property))["description"]) || text(node(property)["description"]),
      ),
    )
  }

  const parameterRows = (operation: Node): ReadonlyArray<string> =>
    nodes(operation["parameters"]).map((parameter) =>
      row(
        text(parameter["name"]),
        parameter["required"] === true,
        `${text(parameter["in"])}: ${typeOf(node(parameter["schema"]))}`,
        text(parameter["description"]),
      ),
    )

  return { resolve, fieldRows, parameterRows }
}
type Words = ReturnType<typeof makeWords>

const responses = (words: Words, operation: Node): string =>
  Object.entries(node(operation["responses"]))
    .map(([status, value]) => {
      const response = node(value)
      const content = contentOf(response)
      const isSuccess = status.startsWith("2")
      return `<details${isSuccess ? " open" : ""}><summary><span class="status">${status}</span> ${prose(text(response["description"]))}</summary>${isSuccess ? table("Answer", words.fieldRows(node(content["schema"]))) : ""}${exampleOf(content)}</details>`
    })
    .join("")

interface Operation {
  readonly path: string
  readonly method: string
  readonly node: Node
}

const operationSection = (words: Words, { method, node: operation, path }: Operation): string => {
  const id = text(operation["operationId"])
  const body = contentOf(node(operation["requestBody"]))
  const example = body["example"] === undefined ? "" : `<h4>Example</h4>${exampleOf(body)}`
  return `<section id="${escape(id)}"><h3>${prose(text(operation["summary"]))}</h3><p class="path"><span class="method ${method}">${method.toUpperCase()}</span> <code>${escape(path)}</code></p>${paragraphs(text(operation["description"]))}${table("Parameters", words.parameterRows(operation))}${table("Body", words.fieldRows(node(body["schema"])))}${example}<h4>Answers</h4>${responses(words, operation)}</section>`
}

/**
 * The anchor of an event type. Its name has dots and underscores. Ids of operations have neither, so anchors don't
 * collide.
 */
const webhookAnchor = (type: string): string => `webhook_${type.replaceAll("_", "__").replaceAll(".", "_")}`

const webhookSection = (words: Words, type: string, webhook: Node): string => {
  const operation = node(webhook["post"])
  const body = contentOf(node(operation["requestBody"]))
  const schema = node(body["schema"])
  const data = node(node(schema["properties"])["data"])
  return `<section id="${webhookAnchor(type)}"><h3><code>${escape(type)}</code></h3><p>${prose(text(operation["description"]))}</p>${table("Headers", words.parameterRows(operation))}${table("Body", words.fieldRows(schema))}${table("Data", words.fieldRows(data))}<h4>Example</h4>${exampleOf(body)}</section>`
}

/** A chapter of the page. */
interface Chapter {
  readonly title: string
  readonly description: string
  readonly entries: ReadonlyArray<{ readonly anchor: string; readonly label: string; readonly html: string }>
}

const operationsOf = (document: Node, tag: string): ReadonlyArray<Operation> =>
  Object.entries(node(document["paths"])).flatMap(([path, item]) =>
    Object.entries(node(item))
      .filter(([, operation]) => (node(operation)["tags"] as ReadonlyArray<Json>).includes(tag))
      .map(([method, operation]) => ({ path, method, node: node(operation) })),
  )

const chapterOf = (document: Node, words: Words, tag: Node): Chapter => {
  const title = text(tag["name"])
  const operations = operationsOf(document, title).map((operation) => ({
    anchor: text(operation.node["operationId"]),
    label: text(operation.node["summary"]),
    html: operationSection(words, operation),
  }))
  const webhooks = Object.entries(node(document["webhooks"]))
    .filter(([, webhook]) => (node(node(webhook)["post"])["tags"] as ReadonlyArray<Json>).includes(title))
    .map(([type, webhook]) => ({
      anchor: webhookAnchor(type),
      label: type,
      html: webhookSection(words, type, node(webhook)),
    }))
  return { title, description: text(tag["description"]), entries: [...operations, ...webhooks] }
}

const menuOf = ({ entries, title }: Chapter): string =>
  `<li>${escape(title)}<ul>${entries.map(({ anchor, label }) => `<li><a href="#${escape(anchor)}">${escape(label)}</a></li>`).join("")}</ul></li>`

const chapterHtml = ({ description, entries, title }: Chapter): string =>
  `<h2>${escape(title)}</h2><p>${prose(description)}</p>${entries.map(({ html }) => html).join("")}`

/** The page. */
export const render = (document: Node): string => {
  const info = node(document["info"])
  const words = makeWords(node(node(document["components"])["schemas"]))
  const chapters = nodes(document["tags"]).map((tag) => chapterOf(document, words, tag))
  const introduction = paragraphs(text(info["description"]))
  const title = escape(text(info["title"]))
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${REFERENCE_STYLE}</style></head><body><nav aria-label="Operations"><p class="title">${title}</p><ul>${chapters.map(menuOf).join("")}</ul><p><a href="openapi.json">openapi.json</a></p></nav><main><h1>${title} ${escape(text(info["version"]))}</h1>${introduction}${chapters.map(chapterHtml).join("")}</main></body></html>`
}
