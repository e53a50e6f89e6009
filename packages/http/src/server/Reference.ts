/**
 * The pages outside the API itself: `/openapi.json`, and `/docs`, a reference for people made from it.
 *
 * The reference is one static page: no script, nothing from another host, so that a strict policy holds.
 */
import { Effect, Predicate } from "effect"
import { type Json, openApiDocument } from "../api/OpenApiDocument.ts"
import { WrongMethod } from "./ErrorAnswer.ts"
import type { HttpResponse } from "./HttpExchange.ts"
import { REFERENCE_STYLE } from "./ReferenceStyle.ts"

export interface Page {
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  /** Rendered at the first request. */
  readonly render: () => string
}

type Node = { readonly [key: string]: Json }

const node = (value: Json | undefined): Node =>
  Predicate.isObject(value) && !Array.isArray(value) ? (value as Node) : {}
const nodes = (value: Json | undefined): ReadonlyArray<Node> => (Array.isArray(value) ? value.map(node) : [])
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "")

const escape = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** Escaped text with `code` marked. */
const prose = (value: string): string => escape(value).replace(/`([^`]+)`/g, "<code>$1</code>")

const pretty = (value: Json): string => `<pre>${escape(JSON.stringify(value, undefined, 2))}</pre>`

const resolve = (schema: Node): Node => {
  const ref = text(schema["$ref"])
  return ref === ""
    ? schema
    : node(node(node(openApiDocument["components"])["schemas"])[ref.split("/").at(-1) ?? ""])
}

/** What a value may be, in a few words: `string, 1 to 256 characters`. */
const typeOf = (reference: Node): string => {
  const schema = resolve(reference)
  const alternatives = nodes(schema["anyOf"])
  if (alternatives.length > 0) return alternatives.map(typeOf).join(" or ")
  const values = Array.isArray(schema["enum"])
    ? schema["enum"].map((value) => JSON.stringify(value)).join(" or ")
    : ""
  if (values !== "") return values
  if (schema["type"] === "array") return `array of ${typeOf(node(schema["items"]))}`
  const bounds = [
    range(schema, "minLength", "maxLength", " characters"),
    range(schema, "minimum", "maximum", ""),
  ]
  const kind = text(schema["format"]) || text(schema["type"])
  return [kind, ...bounds].filter((part) => part !== "").join(", ")
}

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

const jsonOf = (holder: Node): Node => node(node(holder["content"])["application/json"])

const responses = (operation: Node): string =>
  Object.entries(node(operation["responses"]))
    .map(([status, value]) => {
      const response = node(value)
      const json = jsonOf(response)
      const isSuccess = status.startsWith("2")
      return `<details${isSuccess ? " open" : ""}><summary><span class="status">${status}</span> ${prose(text(response["description"]))}</summary>${isSuccess ? table("Answer", fieldRows(node(json["schema"]))) : ""}${pretty(json["example"] ?? {})}</details>`
    })
    .join("")

const operationSection = (path: string, method: string, operation: Node): string => {
  const id = text(operation["operationId"])
  const body = jsonOf(node(operation["requestBody"]))
  const parameters = nodes(operation["parameters"]).map((parameter) =>
    row(
      `${text(parameter["name"])}`,
      parameter["required"] === true,
      `${text(parameter["in"])}: ${typeOf(node(parameter["schema"]))}`,
      text(parameter["description"]),
    ),
  )
  const example = body["example"] === undefined ? "" : `<h4>Example</h4>${pretty(body["example"])}`
  return `<section id="${escape(id)}"><h3>${prose(text(operation["summary"]))}</h3><p class="path"><span class="method ${method}">${method.toUpperCase()}</span> <code>${escape(path)}</code></p><p>${prose(text(operation["description"]))}</p>${table("Parameters", parameters)}${table("Body", fieldRows(node(body["schema"])))}${example}<h4>Answers</h4>${responses(operation)}</section>`
}

const operationsOf = (tag: string): ReadonlyArray<readonly [string, string, Node]> =>
  Object.entries(node(openApiDocument["paths"])).flatMap(([path, item]) =>
    Object.entries(node(item))
      .filter(([, operation]) => (node(operation)["tags"] as ReadonlyArray<Json>).includes(tag))
      .map(([method, operation]) => [path, method, node(operation)] as const),
  )

const renderReference = (): string => {
  const info = node(openApiDocument["info"])
  const tags = nodes(openApiDocument["tags"]).map(
    (tag) => [text(tag["name"]), text(tag["description"])] as const,
  )
  const menu = tags
    .map(
      ([tag]) =>
        `<li>${escape(tag)}<ul>${operationsOf(tag)
          .map(
            ([, , operation]) =>
              `<li><a href="#${escape(text(operation["operationId"]))}">${escape(text(operation["summary"]))}</a></li>`,
          )
          .join("")}</ul></li>`,
    )
    .join("")
  const sections = tags
    .map(
      ([tag, description]) =>
        `<h2>${escape(tag)}</h2><p>${prose(description)}</p>${operationsOf(tag)
          .map(([path, method, operation]) => operationSection(path, method, operation))
          .join("")}`,
    )
    .join("")
  const introduction = text(info["description"])
    .split("\n\n")
    .map((paragraph) => `<p>${prose(paragraph)}</p>`)
    .join("")
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(text(info["title"]))}</title><style>${REFERENCE_STYLE}</style></head><body><nav aria-label="Operations"><p class="title">${escape(text(info["title"]))}</p><ul>${menu}</ul><p><a href="openapi.json">openapi.json</a></p></nav><main><h1>${escape(text(info["title"]))} ${escape(text(info["version"]))}</h1>${introduction}${sections}</main></body></html>`
}

/** The pages by their paths. */
export const pages: Readonly<Record<string, Page | undefined>> = Object.assign(Object.create(null), {
  "/openapi.json": {
    contentType: "application/json",
    headers: {},
    render: () => JSON.stringify(openApiDocument, undefined, 2),
  },
  "/docs": {
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
    },
    render: renderReference,
  },
} satisfies Record<string, Page>)

const rendered = new Map<Page, string>()

/** Serves a page. */
export const serve = (method: string, page: Page): Effect.Effect<HttpResponse, WrongMethod> => {
  if (method !== "GET" && method !== "HEAD")
    return Effect.fail(new WrongMethod({ method, allow: "GET, HEAD" }))
  return Effect.sync(() => {
    const body = rendered.get(page) ?? page.render()
    rendered.set(page, body)
    return { status: 200, headers: { ...page.headers, "content-type": page.contentType }, body }
  })
}
