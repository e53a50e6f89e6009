import { makeOpenApiDocument } from "@billwright/http/api"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"
import { type Node, operationsOf } from "../Judge.ts"

describe("/docs", () => {
  it.effect("shows every operation, needs no key and loads nothing from other hosts", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const page = yield* api.expect(200, "GET", "/docs", { key: null })
      for (const { id, path } of operationsOf(makeOpenApiDocument() as Node)) {
        assert.include(page.text, `id="${id}"`)
        assert.include(page.text, `<code>${path}</code>`)
      }
      assert.notMatch(page.text, /<script|<link|<img|<iframe|@import|url\(|\son\w+=|javascript:/i)
      const links = [...page.text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link)
      assert.isAbove(links.length, 10)
      for (const link of links) assert.match(link ?? "", /^(#\w+|openapi\.json)$/)
      assert.include(page.headers["content-security-policy"], "default-src 'none'")
    }),
  )

  it.effect("is well-formed HTML without broken links", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const { text } = yield* api.expect(200, "GET", "/docs")
      const open: Array<string> = []
      for (const [, close, tag = ""] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
        if (tag === "meta") continue
        if (close === "/") assert.strictEqual(open.pop(), tag)
        else open.push(tag)
      }
      assert.deepStrictEqual(open, [])
      for (const [, id] of text.matchAll(/href="#(\w+)"/g)) assert.include(text, `id="${id}"`)
    }),
  )
})
