import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"

const ada = { name: "Ada Lovelace", email: "ada@example.com", metadata: { plan: "pro" } }
const billed = {
  timezone: "Europe/Berlin",
  locale: "de",
  currency: "EUR",
  country: "DE",
  tax_id: "DE123456789",
  tax_status: "reverse_charge",
  address: { line1: "Unter den Linden 1", city: "Berlin" },
  net_days: 30,
  collection_method: "send_invoice",
}

describe("POST /v1/customers", () => {
  it.effect("answers 201 with the whole customer", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const created = yield* api.expect(201, "POST", "/v1/customers", { json: { ...ada, ...billed } })
      assert.deepStrictEqual(created.body, {
        object: "customer",
        id: created.id,
        ...ada,
        ...billed,
        test_clock_id: null,
        livemode: false,
        created_at: ApiServer.NOW,
        updated_at: ApiServer.NOW,
      })
      assert.match(created.id, /^cus_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
    }),
  )

  it.effect("shows the mode, and has no metadata by default", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const json = { name: "Ada", email: "ada@example.com" }
      const created = yield* api.expect(201, "POST", "/v1/customers", { json, key: api.liveKey })
      assert.strictEqual(created.at("livemode"), true)
      assert.deepStrictEqual(created.at("metadata"), {})
      const nothing = Object.fromEntries(Object.keys(billed).map((name) => [name, null]))
      assert.deepInclude(created.body, {
        ...nothing,
        tax_status: "taxable",
        collection_method: "charge_automatically",
      })
    }),
  )

  it.effect("keeps text unchanged", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const json = {
        name: `  Ada "the Countess" \\ 👩‍💻 é\u2028\u0001 `,
        email: "пример+tag@пример.рф",
        metadata: { constructor: "x", toString: "y", "a b.c[0]": "", "🔑": "ü".repeat(500) },
      }
      const created = yield* api.expect(201, "POST", "/v1/customers", { json })
      const found = yield* api.expect(200, "GET", `/v1/customers/${created.id}`)
      assert.deepInclude(found.body, json)
    }),
  )

  it.effect("accepts fields up to their limits in code points, and nothing longer", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const longest = {
        name: "😀".repeat(256),
        email: `${"e".repeat(252)}@x`,
        metadata: Object.fromEntries(
          Array.from({ length: 50 }, (_, i) => [`${i}`.padEnd(40, "k"), "😀".repeat(500)]),
        ),
      }
      yield* api.expect(201, "POST", "/v1/customers", { json: longest })
      const tooLong = [
        ["name", { name: "😀".repeat(257) }],
        ["email", { email: `${"e".repeat(253)}@x` }],
        ["metadata", { metadata: { ...longest.metadata, more: "" } }],
        ["metadata.k", { metadata: { k: "v".repeat(501) } }],
        [`metadata.${"k".repeat(41)}`, { metadata: { ["k".repeat(41)]: "v" } }],
      ] as const
      for (const [field, change] of tooLong) {
        const refused = yield* api.expect(400, "POST", "/v1/customers", { json: { ...longest, ...change } })
        assert.isTrue(refused.message.startsWith(`${field} `), refused.message)
      }
      assert.lengthOf((yield* api.snapshot).customers, 1)
    }),
  )

  it.effect("names a missing, wrong or unknown field", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const cases = [
        [{}, "name is required"],
        [{ name: "Ada" }, "email is required"],
        [{ ...ada, name: "" }, "name must be 1 to 256 characters"],
        [{ ...ada, name: 7 }, "name must be a string"],
        [{ ...ada, email: "ada" }, "email must be an e-mail address: one @, no spaces or control characters"],
        [{ ...ada, metadata: { plan: 1 } }, "metadata.plan must be a string"],
        [{ ...ada, phone: "1" }, "phone is not a known field"],
        [{ ...ada, id: ApiServer.UNKNOWN.customer }, "id is not a known field"],
      ] as const
      for (const [json, message] of cases) {
        const refused = yield* api.expect(400, "POST", "/v1/customers", { json })
        assert.deepStrictEqual(refused.body, { error: "invalid_request", message })
      }
    }),
  )
})

describe("GET /v1/customers/{id}", () => {
  it.effect("returns the customer, and 404 for any other id", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const created = yield* api.expect(201, "POST", "/v1/customers", { json: ada })
      const found = yield* api.expect(200, "GET", `/v1/customers/${created.id}`)
      assert.strictEqual(found.text, created.text)
      for (const id of [ApiServer.UNKNOWN.customer, "x", ApiServer.UNKNOWN.record, "cus_%F0%9F%98%80"]) {
        const missing = yield* api.expect(404, "GET", `/v1/customers/${id}`)
        assert.strictEqual(missing.message, `no customer has the id ${decodeURIComponent(id)}`)
      }
    }),
  )
})

describe("PATCH /v1/customers/{id}", () => {
  it.effect("changes only the given fields, and null removes metadata or one of its keys", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const id = yield* api.newCustomer({ ...ada, metadata: { plan: "pro", seats: "3" } })
      const path = `/v1/customers/${id}`
      yield* TestClock.adjust("1 minute")
      const renamed = yield* api.expect(200, "PATCH", path, { json: { name: "Ada King" } })
      assert.deepInclude(renamed.body, {
        name: "Ada King",
        email: ada.email,
        metadata: { plan: "pro", seats: "3" },
        created_at: ApiServer.NOW,
        updated_at: "2026-11-21T09:31:00.000Z",
      })
      const merged = yield* api.expect(200, "PATCH", path, {
        json: { email: "king@example.com", metadata: { plan: null, region: "eu", unheard: null } },
      })
      assert.deepInclude(merged.body, {
        name: "Ada King",
        email: "king@example.com",
        metadata: { seats: "3", region: "eu" },
      })
      const unchanged = yield* api.expect(200, "PATCH", path, { json: {} })
      assert.deepStrictEqual(unchanged.at("metadata"), { seats: "3", region: "eu" })
      const cleared = yield* api.expect(200, "PATCH", path, { json: { metadata: null } })
      assert.deepStrictEqual(cleared.at("metadata"), {})
      assert.strictEqual((yield* api.expect(200, "GET", path)).text, cleared.text)
    }),
  )

  it.effect("refuses invalid fields, and changes nothing", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const id = yield* api.newCustomer({
        metadata: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, ""])),
      })
      const path = `/v1/customers/${id}`
      const before = (yield* api.expect(200, "GET", path)).text
      const cases = [
        [{ name: null }, "name"],
        [{ email: null }, "email"],
        [{ metadata: { more: "" } }, "metadata must have at most 50 keys"],
        [{ name: "New", unknown: 1 }, "unknown is not a known field"],
        [undefined, "the body"],
      ] as const
      for (const [json, message] of cases) {
        const refused = yield* api.expect(400, "PATCH", path, { json })
        assert.isTrue(refused.message.startsWith(message), refused.message)
      }
      assert.strictEqual((yield* api.expect(200, "GET", path)).text, before)
    }),
  )
})

describe("DELETE /v1/customers/{id}", () => {
  it.effect("erases for good: the id and the usage stay, and new usage gets 404", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const id = yield* api.newCustomer({ metadata: { secret: "plan 9" } })
      const kept = yield* api.record(id, { quantity: 7 })
      const path = `/v1/customers/${id}`
      const deleted = { object: "customer", id, deleted: true }
      assert.deepStrictEqual((yield* api.expect(200, "DELETE", path)).body, deleted)
      assert.deepStrictEqual((yield* api.expect(200, "DELETE", path)).body, deleted)

      yield* api.expect(404, "GET", path)
      yield* api.expect(404, "PATCH", path, { json: { name: "Back" } })
      assert.deepStrictEqual((yield* api.expect(200, "GET", "/v1/customers")).at("data"), [])
      assert.notInclude(JSON.stringify((yield* api.snapshot).customers), "plan 9")

      const usage = { customer_id: id, product_id: "api", quantity: 1, unit: "call" }
      const refused = yield* api.expect(404, "POST", "/v1/usage", { json: usage })
      assert.strictEqual(refused.message, `customer_id: no customer has the id ${id}`)
      const batch = yield* api.expect(404, "POST", "/v1/usage/batch", { json: { records: [usage] } })
      assert.strictEqual(batch.message, `records[0].customer_id: no customer has the id ${id}`)

      const total = yield* api.expect(200, "GET", "/v1/usage", { query: { customer_id: id } })
      assert.deepInclude(total.body, { total_quantity: 7, unit: "call", record_count: 1 })
      const records = yield* api.expect(200, "GET", "/v1/usage/records", { query: { customer_id: id } })
      assert.deepStrictEqual(records.ids, [kept.id])
    }),
  )

  it.effect("accepts an empty body or {}, but no fields", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const path = `/v1/customers/${yield* api.newCustomer()}`
      const refused = yield* api.expect(400, "DELETE", path, { json: { force: true } })
      assert.strictEqual(refused.message, "force is not a known field")
      yield* api.expect(200, "DELETE", path, { json: {} })
    }),
  )
})

describe("GET /v1/customers", () => {
  it.effect("lists newest first, 20 at a time", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const empty = yield* api.expect(200, "GET", "/v1/customers")
      assert.deepStrictEqual(empty.body, { object: "list", data: [], has_more: false })
      const ids: Array<string> = []
      for (let i = 0; i < 21; i++) ids.unshift(yield* api.newCustomer({ name: `Customer ${i}` }))
      const page = yield* api.expect(200, "GET", "/v1/customers")
      assert.deepStrictEqual(page.ids, ids.slice(0, 20))
      assert.strictEqual(page.at("has_more"), true)
      const all = yield* api.expect(200, "GET", "/v1/customers", { query: { limit: 100 } })
      assert.deepStrictEqual(all.ids, ids)
      assert.strictEqual(all.at("has_more"), false)
    }),
  )

  it.effect("pages in both directions, without skips or repeats while customers are added and erased", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const ids: Array<string> = []
      for (let i = 0; i < 7; i++) ids.unshift(yield* api.newCustomer())
      const page = (query: Readonly<Record<string, string | number>>) =>
        api.expect(200, "GET", "/v1/customers", { query: { limit: 3, ...query } })

      const seen: Array<string> = []
      let next = yield* page({})
      seen.push(...next.ids)
      while (next.at("has_more") === true) {
        const cursor = seen.at(-1)!
        yield* api.newCustomer()
        // A cursor still works after its customer was erased.
        yield* api.expect(200, "DELETE", `/v1/customers/${cursor}`)
        next = yield* page({ starting_after: cursor })
        seen.push(...next.ids)
      }
      assert.deepStrictEqual(seen, ids)

      const back: Array<string> = []
      let previous = yield* page({ ending_before: ids.at(-1)! })
      back.unshift(...previous.ids)
      while (previous.at("has_more") === true) {
        previous = yield* page({ ending_before: back[0]! })
        back.unshift(...previous.ids)
      }
      const alive = (yield* page({ limit: 100 })).ids
      assert.deepStrictEqual(
        back,
        alive.filter((id) => id !== ids.at(-1)),
      )
    }),
  )

  it.effect("finds customers by their exact e-mail address", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const first = yield* api.newCustomer({ email: "a+b@example.com" })
      yield* api.newCustomer({ email: "A+b@example.com" })
      const second = yield* api.newCustomer({ email: "a+b@example.com" })
      const list = yield* api.expect(200, "GET", "/v1/customers", { query: { email: "a+b@example.com" } })
      assert.deepStrictEqual(list.ids, [second, first])
      yield* api.expect(200, "PATCH", `/v1/customers/${second}`, { json: { email: "c@example.com" } })
      const one = yield* api.expect(200, "GET", "/v1/customers", { query: { email: "a+b@example.com" } })
      assert.deepStrictEqual(one.ids, [first])
      const none = yield* api.expect(200, "GET", "/v1/customers", { query: { email: "x@example.com" } })
      assert.deepStrictEqual(none.ids, [])
    }),
  )

  it.effect("refuses limits out of range, unknown cursors, two cursors and unknown parameters", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const id = yield* api.newCustomer()
      const limit = "limit must be an integer from 1 to 100"
      const cases = [
        ["limit=0", limit],
        ["limit=101", limit],
        ["limit=-1", limit],
        ["limit=1.0", limit],
        ["limit=1e1", limit],
        ["limit=%2B5", limit],
        ["limit=", limit],
        ["limit=ten", limit],
        ["limit=99999999999999999999", limit],
        [
          `starting_after=${ApiServer.UNKNOWN.customer}`,
          "starting_after is not the id of an item of this list",
        ],
        ["ending_before=x", "ending_before is not the id of an item of this list"],
        [
          `starting_after=${id}&ending_before=${id}`,
          "ending_before cannot be combined with the other cursor",
        ],
        ["email=ada", "email must be an e-mail address: one @, no spaces or control characters"],
        ["search=ad", "search must be 3 to 100 characters"],
        [`search=${"a".repeat(101)}`, "search must be 3 to 100 characters"],
        // Three code points, but two letters.
        ["search=ae%CC%81", "search must be 3 to 100 characters"],
        ["offset=3", "offset is not a known field"],
        ["Limit=3", "Limit is not a known field"],
      ] as const
      for (const [query, message] of cases) {
        const refused = yield* api.expect(400, "GET", `/v1/customers?${query}`)
        assert.deepStrictEqual(refused.body, { error: "invalid_request", message })
      }
    }),
  )
})
