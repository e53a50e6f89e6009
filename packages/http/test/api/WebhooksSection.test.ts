/**
 * The part of the document about the requests that receivers get.
 */
import { Event, EventCatalogue, EventId, EventType } from "@billwright/core"
import { makeOpenApiDocument } from "@billwright/http/api"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import * as ApiServer from "../ApiServer.ts"
import { ajvOf, type Node, node } from "../Judge.ts"
import * as Receivers from "../Receivers.ts"

const list = (value: unknown): ReadonlyArray<Node> => (Array.isArray(value) ? value.map(node) : [])
const contentOf = (document: Node, type: string): Node =>
  node(
    node(node(node(node(node(document["webhooks"])[type])["post"])["requestBody"])["content"])[
      "application/json"
    ],
  )

const shipped = EventType.make({
  name: "order.shipped",
  description: "An order was shipped.",
  data: Schema.Struct({
    order_id: Schema.NonEmptyString,
    items: Schema.Array(Schema.Struct({ sku: Schema.String }).annotate({ identifier: "An item/1" })),
  }),
  example: { order_id: "order-17", items: [{ sku: "a" }] },
})

/** Validates payloads of a type by the document. */
const validatorOf = (document: Node, type: string) => {
  const ajv = ajvOf(document)
  const pointer = `/webhooks/${type}/post/requestBody/content/application~1json/schema`
  return ajv.compile({ $ref: `document#${pointer}` })
}

describe("the webhooks section", () => {
  const document = makeOpenApiDocument() as Node

  it("has one entry for each type, described, without security, with the headers of Standard Webhooks", () => {
    const names = EventCatalogue.builtIn.map(({ name }) => name).sort()
    assert.deepStrictEqual(Object.keys(node(document["webhooks"])), names)
    const ids = new Set<unknown>()
    for (const type of EventCatalogue.builtIn) {
      const operation = node(node(node(document["webhooks"])[type.name])["post"])
      ids.add(operation["operationId"])
      assert.strictEqual(operation["description"], type.description)
      assert.deepStrictEqual(operation["security"], [])
      assert.deepStrictEqual(
        list(operation["parameters"]).map(({ in: place, name, required }) => [place, name, required]),
        ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => ["header", name, true]),
      )
      assert.includeMembers(Object.keys(node(operation["responses"])), ["2XX", "410"])
    }
    assert.strictEqual(ids.size, names.length)
    assert.include(
      list(document["tags"]).map(({ name }) => name),
      "Webhooks",
    )
  })

  it("has payload schemas that accept exactly the rendered payloads", () => {
    for (const type of EventCatalogue.builtIn) {
      const validate = validatorOf(document, type.name)
      const example = node(contentOf(document, type.name)["example"])
      assert.isTrue(validate(example), `${type.name}: ${JSON.stringify(validate.errors)}`)
      const id = EventId.make("evt_01kb2s0c4ee9ysm1h4xqv0tz8d")
      const fields = { id, type: type.name, timestamp: DateTime.makeUnsafe(ApiServer.NOW) }
      assert.isTrue(validate(JSON.parse(Event.render(fields, "live", type.example))), type.name)
      for (const wrong of [
        { ...example, type: "no.such" },
        { ...example, id: "x" },
        { ...example, data: {} },
        { ...example, data: { ...node(example["data"]), unknown: 1 } },
        { ...example, timestamp: "today" },
      ]) {
        assert.isFalse(validate(wrong), `${type.name}: ${JSON.stringify(wrong)}`)
      }
    }
  })

  it("has the host's own types, with the components that they use", () => {
    const own = makeOpenApiDocument([...EventCatalogue.builtIn, shipped]) as Node
    const validate = validatorOf(own, shipped.name)
    assert.isTrue(validate(contentOf(own, shipped.name)["example"]), JSON.stringify(validate.errors))
    const data = { order_id: "order-17", items: [{ sku: 7 }] }
    assert.isFalse(validate({ ...node(contentOf(own, shipped.name)["example"]), data }))
    assert.property(node(node(own["components"])["schemas"]), "order.shipped.An_item_1")
  })

  it.effect("is served with the types of the server, and shown in /docs", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ billing: { events: { types: [shipped] } } })
      const served = (yield* api.expect(200, "GET", "/openapi.json", { key: null })).body as Node
      const page = (yield* api.expect(200, "GET", "/docs", { key: null })).text
      for (const type of [...EventCatalogue.builtIn, shipped]) {
        assert.property(node(served["webhooks"]), type.name)
        const description = type.description.replaceAll(/`([^`]*)`/g, "<code>$1</code>")
        assert.include(page, `<h3><code>${type.name}</code></h3><p>${description}`)
      }
      for (const [, id] of page.matchAll(/href="#(\w+)"/g)) assert.include(page, `id="${id}"`)
      assert.include(page, "webhook-signature")
      assert.include(page, "order-17")
    }),
  )

  it.effect("matches the sent requests", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const receivers = yield* Receivers.make(api)
      const { id } = yield* api.newEndpoint()
      for (const { name } of EventCatalogue.builtIn) {
        yield* api.expect(201, "POST", `/v1/webhook_endpoints/${id}/test`, { json: { type: name } })
      }
      yield* receivers.deliver
      assert.lengthOf(receivers.requests, EventCatalogue.builtIn.length)
      for (const { body, headers } of receivers.requests) {
        const payload = JSON.parse(body) as { type: string }
        const validate = validatorOf(document, payload.type)
        assert.isTrue(validate(payload), `${payload.type}: ${JSON.stringify(validate.errors)}`)
        const operation = node(node(node(document["webhooks"])[payload.type])["post"])
        const ajv = ajvOf(document)
        for (const { name, schema } of list(operation["parameters"])) {
          const text = headers[String(name)]
          const value = node(schema)["type"] === "integer" ? Number(text) : text
          assert.isTrue(ajv.validate(node(schema), value), `${String(name)}: ${text}`)
        }
      }
    }),
  )
})
