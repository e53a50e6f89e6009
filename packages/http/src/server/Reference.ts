/**
 * The pages beside the API: `/openapi.json`, and `/docs`, an API reference that is made from it.
 *
 * The reference is one static page without scripts and without anything from other hosts, so a strict content
 * security policy is possible.
 */
import type { EventType } from "@billwright/core"
import { Effect } from "effect"
import { makeOpenApiDocument } from "../api/OpenApiDocument.ts"
import { WrongMethod } from "./ErrorResponse.ts"
import type { HttpResponse } from "./HttpExchange.ts"
import * as ReferencePage from "./ReferencePage.ts"

/** A page and its headers. */
export interface Page {
  readonly headers: Readonly<Record<string, string>>
  /** Renders the page at the first request. */
  readonly body: () => string
}

/** Pages by path. */
export type Pages = Readonly<Record<string, Page | undefined>>

const once = <A>(render: () => A): (() => A) => {
  let rendered: { readonly value: A } | undefined
  return () => (rendered ??= { value: render() }).value
}

/** The pages of a server with these event types. */
export const make = (types: ReadonlyArray<EventType.EventType>): Pages => {
  const document = once(() => makeOpenApiDocument(types))
  const pages: Record<string, Page> = {
    "/openapi.json": {
      headers: { "content-type": "application/json" },
      body: once(() => JSON.stringify(document(), undefined, 2)),
    },
    "/docs": {
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy":
          "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
      },
      body: once(() => ReferencePage.render(document())),
    },
  }
  return Object.assign(Object.create(null) as Record<string, Page>, pages)
}

/** Serves a page. */
export const serve = (method: string, page: Page): Effect.Effect<HttpResponse, WrongMethod> =>
  method === "GET" || method === "HEAD"
    ? Effect.sync(() => ({ status: 200, headers: page.headers, body: page.body() }))
    : Effect.fail(new WrongMethod({ method, allow: "GET, HEAD" }))
