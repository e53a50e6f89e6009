/**
 * The export of everything about a customer.
 */
import { Actor, CurrentActor, Customers } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as CustomerExport from "../../src/server/CustomerExport.ts"
import * as ApiServer from "../ApiServer.ts"

interface Line {
  readonly object: string
  readonly id: string
  readonly customer_id?: string
  readonly [field: string]: unknown
}

const linesOf = (text: string): ReadonlyArray<Line> => {
  const lines = text.split("\n")
  assert.strictEqual(lines.pop(), "")
  return lines.map((line) => JSON.parse(line) as Line)
}

type Api = ApiServer.Api

const plan = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
}

/** A customer with something of most kinds, and more usage than a page has. */
const fill = Effect.fnUntraced(function* (api: Api, name: string) {
  const customerId = yield* api.newCustomer({ name, currency: "EUR", metadata: { nick: name } })
  const post = (path: string, json: object) =>
    Effect.map(api.expect(201, "POST", path, { json: { customer_id: customerId, ...json } }), ({ id }) => id)
  const records = yield* Effect.forEach(Array.from({ length: 101 }), () => api.record(customerId))
  return {
    customerId,
    ids: [
      customerId,
      ...records.map(({ id }) => id),
      yield* post("/v1/subscriptions", { plan: "pro", metadata: { nick: name } }),
      yield* post("/v1/invoice_items", { currency: "EUR", amount: 5, description: name }),
      yield* post("/v1/invoices", { currency: "EUR", lines: [{ description: name, amount: 100 }] }),
      yield* post("/v1/usage/thresholds", {
        product_id: "api",
        unit: "call",
        quantity: 1_000,
        period: "month",
      }),
      yield* post("/v1/credit_grants", { unit: "token", amount: 10, kind: "promotional" }),
      yield* post("/v1/holds", { unit: "token", amount: 1 }),
      yield* api.publish({ customer_id: customerId }),
    ],
  }
})

describe("the export of a customer", () => {
  it.effect("has all that the API lists of it, each object as there, and nothing of others", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [plan] } })
      const [ada, grace] = [yield* fill(api, "Lovelace"), yield* fill(api, "Hopper")]
      yield* api.expect(200, "PATCH", `/v1/customers/${ada.customerId}`, { json: { country: "DE" } })
      const answer = yield* api.expect(200, "GET", `/v1/customers/${ada.customerId}/export`)
      assert.strictEqual(answer.headers["content-type"], "application/jsonl")
      assert.strictEqual(answer.headers["cache-control"], "no-store")
      const all = linesOf(answer.text)
      const end = all.at(-1)!
      const objects = all.slice(0, -1)
      assert.deepInclude(end, {
        object: "customer_export",
        customer_id: ada.customerId,
        lines: objects.length,
        livemode: false,
      })

      const ids = objects.map(({ id }) => id)
      assert.lengthOf(new Set(ids), ids.length)
      assert.includeMembers(ids, ada.ids)
      assert.notInclude(answer.text, "Hopper")
      for (const id of grace.ids) assert.notInclude(answer.text, id)

      // The first is the customer, with its changes after it.
      const customer = yield* api.expect(200, "GET", `/v1/customers/${ada.customerId}`)
      assert.deepStrictEqual(objects[0], customer.body as Line)
      assert.deepStrictEqual(
        objects.slice(1, 3).map(({ action }) => action),
        ["customer.updated", "customer.created"],
      )
      const lists = {
        event: "/v1/events",
        invoice: "/v1/invoices",
        invoice_item: "/v1/invoice_items",
        subscription: "/v1/subscriptions",
        usage_threshold: "/v1/usage/thresholds",
        credit_grant: "/v1/credit_grants",
        credit_entry: "/v1/credit_entries",
        hold: "/v1/holds",
      }
      for (const [object, path] of Object.entries(lists)) {
        const list = yield* api.expect(200, "GET", path, { query: { customer_id: ada.customerId } })
        const own = objects.filter((one) => one.object === object)
        assert.isNotEmpty(own, object)
        assert.deepStrictEqual(own, list.at("data") as ReadonlyArray<Line>, object)
      }
      const actions = objects.flatMap(({ action }) => (typeof action === "string" ? [action] : []))
      assert.includeMembers(actions, [
        "subscription.created",
        "invoice.created",
        "invoice_item.created",
        "usage_threshold.created",
      ])
    }),
  )

  it.effect("needs the scope to read each kind of object, as viewers have", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const path = `/v1/customers/${yield* api.newCustomer()}/export`
      const scopes = [
        "customers:read",
        "credits:read",
        "payments:read",
        "invoices:read",
        "subscriptions:read",
        "usage:read",
        "events:read",
        "audit:read",
      ] as const
      const { secret: whole } = yield* api.issue({ scopes })
      yield* api.expect(200, "GET", path, { key: whole })
      for (const missing of scopes) {
        const { secret } = yield* api.issue({ scopes: scopes.filter((scope) => scope !== missing) })
        const refused = yield* api.expect(403, "GET", path, { key: secret })
        assert.include(refused.message, missing)
      }
    }),
  )

  it.effect("goes on when the last object of a page is deleted meanwhile, and has each other one once", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customerId = yield* api.newCustomer()
      const item = { customer_id: customerId, currency: "EUR", amount: 5, description: "Workshop" }
      const ids = yield* Effect.forEach(Array.from({ length: 150 }), () =>
        Effect.map(api.expect(201, "POST", "/v1/invoice_items", { json: item }), ({ id }) => id),
      )
      const isItem = (value: object) => (value as Line).object === "invoice_item"
      const seen: Array<string> = []
      const gone: Array<string> = []
      const read = Effect.gen(function* () {
        const { next } = yield* (yield* CustomerExport.make)(customerId)
        for (let values = yield* next; values !== undefined; values = yield* next) {
          const items = values.filter(isItem).map((value) => (value as Line).id)
          seen.push(...items)
          if (items.length < 100) continue
          // The two oldest of the page: the next one begins after them.
          gone.push(...items.slice(-2))
          for (const id of gone) yield* api.expect(200, "DELETE", `/v1/invoice_items/${id}`)
        }
      })
      yield* api.as({})(read)
      assert.lengthOf(gone, 2)
      assert.deepStrictEqual(seen, ids.toReversed())
    }),
  )

  it.effect("has each change once, also those by the customer of an object that changed often", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customerId = yield* api.newCustomer()
      const rename = (name: string) => Effect.flatMap(Customers, ({ update }) => update(customerId, { name }))
      const byPayer = Effect.provideService(rename("Lovelace"), CurrentActor, Actor.payer(customerId))
      yield* api.as({})(byPayer)
      const names = Array.from({ length: 101 }, (_, count) => `Ada ${count}`)
      yield* api.as({})(Effect.forEach(names, rename, { discard: true }))
      const { text } = yield* api.expect(200, "GET", `/v1/customers/${customerId}/export`)
      const changes = linesOf(text).filter(({ object }) => object === "audit_record")
      assert.lengthOf(changes, 103)
      assert.strictEqual(new Set(changes.map(({ id }) => id)).size, 103)
    }),
  )

  it.effect("is of a customer of the tenant that is there", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const id = yield* api.newCustomer()
      const { secret } = yield* api.issue({ account: "other" })
      yield* api.expect(404, "GET", `/v1/customers/${id}/export`, { key: secret })
      yield* api.expect(404, "GET", `/v1/customers/${ApiServer.UNKNOWN.customer}/export`)
      yield* api.expect(200, "HEAD", `/v1/customers/${id}/export`)
      yield* api.expect(200, "DELETE", `/v1/customers/${id}`)
      yield* api.expect(404, "GET", `/v1/customers/${id}/export`)
      yield* api.expect(405, "POST", `/v1/customers/${id}/export`, { json: {} })
    }),
  )
})
