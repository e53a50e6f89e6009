import { EventCatalogue, EventType } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import * as Receivers from "../Receivers.ts"

const data = { invoice_id: "in_1", customer_id: "c_1", amount: 4200, currency: "EUR" }

const shipped = EventType.make({
  name: "order.shipped",
  description: "An order was shipped.",
  data: Schema.Struct({
    order_id: Schema.NonEmptyString,
    items: Schema.Array(Schema.Struct({ sku: Schema.String }).annotate({ identifier: "Item" })),
  }),
  example: { order_id: "order-17", items: [{ sku: "a" }] },
})
const anything = EventType.make({
  name: "test.anything",
  description: "Data of any shape.",
  data: Schema.Any,
  example: null,
})

describe("GET /v1/event_types", () => {
  it.effect("lists the built-in types and the host's own, with Schema and example", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ billing: { events: { types: [shipped] } } })
      const list = yield* api.expect(200, "GET", "/v1/event_types")
      const types = list.at("data") as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(
        types.map(({ type }) => type),
        [...EventCatalogue.builtIn.map(({ name }) => name), shipped.name].sort(),
      )
      const item = {
        type: "object",
        properties: { sku: { type: "string" } },
        required: ["sku"],
        additionalProperties: false,
      }
      assert.deepStrictEqual(
        types.find(({ type }) => type === shipped.name),
        {
          object: "event_type",
          type: "order.shipped",
          description: "An order was shipped.",
          schema: {
            $schema: "https://json-schema.org/draft/2020-12/schema",
            type: "object",
            properties: {
              order_id: { type: "string", minLength: 1 },
              items: { type: "array", items: { $ref: "#/$defs/Item" } },
            },
            required: ["order_id", "items"],
            additionalProperties: false,
            $defs: { Item: item },
          },
          example: shipped.example,
        },
      )
      const threshold = types.find(({ type }) => type === "usage.threshold")?.["schema"]
      assert.deepInclude(threshold as object, { type: "object", additionalProperties: false })
      const { properties } = threshold as { properties: Record<string, unknown> }
      assert.deepStrictEqual(properties["total_quantity"], { type: "integer" })
    }),
  )
})

describe("POST /v1/events", () => {
  it.effect("answers 201 with the event, and creates its deliveries", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const all = (yield* api.newEndpoint()).id
      yield* api.newEndpoint({ event_types: ["payment.failed"] })
      const json = { type: "invoice.paid", data, customer_id: customer, idempotency_key: "in_1-paid" }
      const created = yield* api.expect(201, "POST", "/v1/events", { json })
      assert.deepStrictEqual(created.body, {
        object: "event",
        id: created.id,
        type: "invoice.paid",
        timestamp: ApiServer.NOW,
        customer_id: customer,
        idempotency_key: "in_1-paid",
        endpoint_id: null,
        data,
        livemode: false,
        created_at: ApiServer.NOW,
      })
      assert.match(created.id, /^evt_/)
      const found = yield* api.expect(200, "GET", `/v1/events/${created.id}`)
      assert.deepInclude(found.body, created.body as object)
      const delivery = {
        object: "delivery",
        id: String(found.at("deliveries", 0, "id")),
        event_id: created.id,
        event_type: "invoice.paid",
        endpoint_id: all,
        status: "Pending",
        reason: null,
        attempt_count: 0,
        next_attempt_at: ApiServer.NOW,
        last_response_status: null,
        last_error: null,
        finished_at: null,
        livemode: false,
        created_at: ApiServer.NOW,
      }
      assert.deepStrictEqual(found.at("deliveries"), [delivery])
    }),
  )

  it.effect("answers a repeated idempotency_key with 200 and the first event, or 409 for other content", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* api.newEndpoint()
      const json = { type: "invoice.paid", data, idempotency_key: "k" }
      const first = yield* api.expect(201, "POST", "/v1/events", { json })
      yield* TestClock.adjust("30 days")
      const reordered = { ...json, data: Object.fromEntries(Object.entries(data).reverse()) }
      for (const again of [json, reordered]) {
        assert.strictEqual((yield* api.expect(200, "POST", "/v1/events", { json: again })).text, first.text)
      }
      for (const other of [{ type: "invoice.created" }, { data: { ...data, amount: 1 } }]) {
        const refused = yield* api.expect(409, "POST", "/v1/events", { json: { ...json, ...other } })
        assert.deepStrictEqual(refused.body, {
          error: "conflict",
          message: `idempotency_key was already used with other content, by ${first.id}`,
        })
      }
      const { deliveries, events } = yield* api.snapshot
      assert.lengthOf(events, 1)
      assert.lengthOf(deliveries, 1)
    }),
  )

  it.effect("answers a repeated Idempotency-Key with the same bytes", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ billing: { events: { types: [anything] } } })
      const body = `{"type":"test.anything","data":{"total":9007199254740993}}`
      const call = { body, headers: { "idempotency-key": "k" } }
      const first = yield* api.expect(201, "POST", "/v1/events", call)
      assert.include(first.text, '"data":{"total":9007199254740993}')
      const again = yield* api.expect(201, "POST", "/v1/events", call)
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
      assert.lengthOf((yield* api.snapshot).events, 1)
    }),
  )

  it.effect("keeps data of any form unchanged, digit by digit", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ billing: { events: { types: [anything] } } })
      const texts = [
        "null",
        "true",
        `"text"`,
        "0.1",
        "123456789012345678901234567890",
        "-9007199254740993",
        "[]",
        "{}",
        `[[1,[2,{"a":[]}]],"9007199254740993"]`,
        "[".repeat(30) + "]".repeat(30),
        `{"amountDue":{"deep":[{"total":99999999999999999999,"half":0.5}]},"":null,"a b":"\u2028"}`,
      ]
      for (const text of texts) {
        const body = `{"type":"test.anything","data":${text}}`
        const created = yield* api.expect(201, "POST", "/v1/events", { body })
        const found = yield* api.expect(200, "GET", `/v1/events/${created.id}`)
        for (const answer of [created, found]) assert.include(answer.text, `"data":${text},"livemode"`)
      }
      const list = yield* api.expect(200, "GET", "/v1/events?limit=1")
      assert.include(list.text, '"total":99999999999999999999,')
    }),
  )

  it.effect("names a wrong field as it was sent", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ billing: { events: { types: [anything] } } })
      const name =
        "must be an event type such as invoice.paid: lower-case words joined by dots, at most 100 characters"
      const cases = [
        [{}, "type is required"],
        [{ type: "invoice.paid" }, "data is required"],
        [{ type: "Invoice", data }, `type ${name}`],
        [{ type: `a.${"b".repeat(99)}`, data }, `type ${name}`],
        [{ type: "invoice.payed", data }, `type is not a known event type: "invoice.payed"`],
        [{ type: "invoice.paid", data: {} }, "data.invoice_id is required"],
        [{ type: "invoice.paid", data: [] }, "data must be "],
        [{ type: "invoice.paid", data: { ...data, amount: 1.5 } }, "data.amount must be an integer"],
        [{ type: "invoice.paid", data: { ...data, amountDue: 1 } }, "data.amountDue is not a known field"],
        [
          { type: "invoice.paid", data: { ...data, metadata: { aB: 1 } } },
          "data.metadata.aB must be a string",
        ],
        [
          { type: "invoice.paid", data, customer_id: "x" },
          "customer_id must be an id that starts with cus_, with 26 lower-case letters and digits after it",
        ],
        [{ type: "invoice.paid", data, idempotency_key: "" }, "idempotency_key must be 1 to 255 characters"],
        [{ type: "invoice.paid", data, customerId: "x" }, "customerId is not a known field"],
        [{ type: "test.anything", data: "x\0" }, "data must not contain NUL or a lone surrogate"],
        [
          { type: "test.anything", data: "x".repeat(262_144) },
          "data makes a payload of more than 262144 bytes",
        ],
      ] as const
      for (const [json, message] of cases) {
        const refused = yield* api.expect(400, "POST", "/v1/events", { json })
        assert.isTrue(refused.message.startsWith(message), refused.message)
      }
      const beyond = yield* api.expect(400, "POST", "/v1/events", {
        body: JSON.stringify({ type: "invoice.paid", data }).replace("4200", "9007199254740993"),
      })
      assert.strictEqual(
        beyond.message,
        "data.amount must be an integer of the currency's minor unit, from 0 to 9007199254740991",
      )
      const inexact = yield* api.expect(400, "POST", "/v1/events", {
        body: `{"type":"test.anything","data":[1e400]}`,
      })
      assert.strictEqual(inexact.message, "data must not contain a number that JSON can't hold")
      const nested = (depth: number) => ({
        body: `{"type":"test.anything","data":${"[".repeat(depth)}${"]".repeat(depth)}}`,
      })
      const deep = yield* api.expect(400, "POST", "/v1/events", nested(31))
      assert.strictEqual(deep.message, "data must not be nested deeper than 30 levels")
      const deeper = yield* api.expect(400, "POST", "/v1/events", nested(32))
      assert.strictEqual(deeper.message, "the body is nested deeper than 32 levels")
      const prototype = yield* api.expect(400, "POST", "/v1/events", {
        body: `{"type":"test.anything","data":{"__proto__":{"x":1}}}`,
      })
      assert.strictEqual(prototype.message, "data must not contain the key __proto__")
      const json = { type: "invoice.paid", data, customer_id: ApiServer.UNKNOWN.customer }
      const unknown = yield* api.expect(404, "POST", "/v1/events", { json })
      assert.strictEqual(unknown.message, `customer_id: no customer has the id ${json.customer_id}`)
      assert.lengthOf((yield* api.snapshot).events, 0)
    }),
  )
})

describe("GET /v1/events", () => {
  it.effect(
    "lists newest first, with pages and filters by type, customer, time and status of deliveries",
    () =>
      Effect.gen(function* () {
        const api = yield* ApiServer.start()
        const receivers = yield* Receivers.make(api)
        const customer = yield* api.newCustomer()
        const old = yield* api.publish()
        yield* api.newEndpoint()
        yield* TestClock.adjust("1 hour")
        const delivered = yield* api.publish({ customer_id: customer })
        yield* receivers.deliver
        const pending = yield* api.publish({ type: "invoice.created" })
        const list = (query: Readonly<Record<string, string | number>>) =>
          Effect.map(api.expect(200, "GET", "/v1/events", { query }), (answer) => answer.ids)

        assert.deepStrictEqual(yield* list({}), [pending, delivered, old])
        const page = yield* api.expect(200, "GET", "/v1/events", { query: { limit: 2 } })
        assert.deepStrictEqual(page.ids, [pending, delivered])
        assert.strictEqual(page.at("has_more"), true)
        const counts = { pending: 0, delivered: 0, failed: 0 }
        assert.deepStrictEqual(page.at("data", 0, "delivery_counts"), { ...counts, pending: 1 })
        assert.deepStrictEqual(page.at("data", 1, "delivery_counts"), { ...counts, delivered: 1 })
        assert.deepStrictEqual(yield* list({ limit: 2, starting_after: delivered }), [old])
        assert.deepStrictEqual(yield* list({ limit: 1, ending_before: old }), [delivered])
        assert.deepStrictEqual(yield* list({ type: "invoice.created" }), [pending])
        assert.deepStrictEqual(yield* list({ type: "invoice.created", customer_id: customer }), [])
        assert.deepStrictEqual(yield* list({ customer_id: customer }), [delivered])
        const later = "2026-11-21T10:30:00Z"
        assert.deepStrictEqual(yield* list({ created_after: later }), [pending, delivered])
        assert.deepStrictEqual(yield* list({ created_before: later }), [old])
        const between = { created_after: "2026-11-21T11:30:00+02:00", created_before: later }
        assert.deepStrictEqual(yield* list(between), [old])
        assert.deepStrictEqual(yield* list({ delivery_status: "Delivered" }), [delivered])
        assert.deepStrictEqual(yield* list({ delivery_status: "Pending" }), [pending])
        assert.deepStrictEqual(yield* list({ delivery_status: "Failed" }), [])
        assert.deepStrictEqual(yield* list({ type: "no.such" }), [])
      }),
  )

  it.effect("names a wrong parameter", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const cases = [
        ["limit=0", "limit must be an integer from 1 to 100"],
        ["type=x", "type must be an event type"],
        ["customer_id=x", "customer_id must be an id"],
        ["created_after=yesterday", "created_after must be an RFC 3339 instant"],
        ["created_before=2026-02-30T00:00:00Z", "created_before must be an RFC 3339 instant"],
        ["delivery_status=pending", "delivery_status must be Pending, Delivered or Failed"],
        [`starting_after=${ApiServer.UNKNOWN.event}`, "starting_after is not the id of an item of this list"],
        ["status=Failed", "status is not a known field"],
      ] as const
      for (const [query, message] of cases) {
        const refused = yield* api.expect(400, "GET", `/v1/events?${query}`)
        assert.isTrue(refused.message.startsWith(message), refused.message)
      }
      for (const id of ["x", ApiServer.UNKNOWN.event, ApiServer.UNKNOWN.delivery]) {
        const missing = yield* api.expect(404, "GET", `/v1/events/${id}`)
        assert.strictEqual(missing.message, `no event has the id ${id}`)
      }
    }),
  )
})

describe("POST /v1/events/{id}/replay", () => {
  it.effect("creates new deliveries to all endpoints that subscribe to its type now, or to one", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const receivers = yield* Receivers.make(api)
      const event = yield* api.publish()
      const path = `/v1/events/${event}/replay`
      // Generated clients for Go and Java send `null` for a missing body.
      for (const call of [{}, { json: {} }, { json: null }]) {
        const none = yield* api.expect(200, "POST", path, call)
        assert.deepStrictEqual(none.body, { object: "list", data: [], has_more: false })
      }
      const first = (yield* api.newEndpoint()).id
      const second = (yield* api.newEndpoint({ event_types: ["invoice.paid", "invoice.created"] })).id
      const third = (yield* api.newEndpoint({ event_types: ["invoice.created"] })).id
      const made = yield* api.expect(200, "POST", path, { json: {} })
      const targets = (made.at("data") as ReadonlyArray<{ endpoint_id: string }>).map(
        (each) => each.endpoint_id,
      )
      assert.deepStrictEqual(targets.toSorted(), [first, second].toSorted())
      const one = yield* api.expect(200, "POST", path, { json: { endpoint_id: second } })
      assert.strictEqual(one.at("data", 0, "endpoint_id"), second)
      assert.strictEqual(one.at("data", 0, "status"), "Pending")
      assert.lengthOf(one.at("data") as ReadonlyArray<unknown>, 1)

      yield* receivers.deliver
      assert.lengthOf(receivers.requests, 3)
      assert.strictEqual(new Set(receivers.requests.map(({ body }) => body)).size, 1)
      for (const { headers } of receivers.requests) assert.strictEqual(headers["webhook-id"], event)

      const refused = yield* api.expect(409, "POST", path, { json: { endpoint_id: third } })
      assert.include(refused.message, "do not include invoice.paid")
      yield* api.expect(200, "PATCH", `/v1/webhook_endpoints/${second}`, { json: { status: "disabled" } })
      const disabled = yield* api.expect(409, "POST", path, { json: { endpoint_id: second } })
      assert.strictEqual(disabled.message, `the webhook endpoint ${second} is disabled`)
      const { endpoint } = ApiServer.UNKNOWN
      const unknown = yield* api.expect(404, "POST", path, { json: { endpoint_id: endpoint } })
      assert.strictEqual(unknown.message, `no webhook endpoint has the id ${endpoint}`)
      yield* api.expect(404, "POST", `/v1/events/${ApiServer.UNKNOWN.event}/replay`)
      for (const json of [[], { endpoint_id: "x" }, { endpointId: second }]) {
        yield* api.expect(400, "POST", path, { json })
      }
    }),
  )

  it.effect("sends a test event only to its own endpoint, and says so", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const { id } = yield* api.newEndpoint({ event_types: ["payment.failed"] })
      const other = (yield* api.newEndpoint()).id
      const endpoint = `/v1/webhook_endpoints/${id}`
      const event = yield* api.expect(201, "POST", `${endpoint}/test`, { json: { type: "invoice.paid" } })
      assert.strictEqual((yield* api.expect(200, "GET", `/v1/events/${event.id}`)).at("endpoint_id"), id)
      const path = `/v1/events/${event.id}/replay`
      for (const json of [{}, { endpoint_id: id }]) {
        const made = yield* api.expect(200, "POST", path, { json })
        assert.strictEqual(made.at("data", 0, "endpoint_id"), id)
        assert.lengthOf(made.at("data") as ReadonlyArray<unknown>, 1)
      }
      const refused = yield* api.expect(400, "POST", path, { json: { endpoint_id: other } })
      assert.strictEqual(
        refused.message,
        `endpoint_id must be ${id}, the endpoint that the event was made for`,
      )
      yield* api.expect(200, "DELETE", endpoint)
      const gone = yield* api.expect(404, "POST", path, { json: {} })
      assert.strictEqual(gone.message, `no webhook endpoint has the id ${id}`)
    }),
  )
})
