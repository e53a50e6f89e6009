import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

describe("the audit log", () => {
  it.effect("says which key made a change, from where, and in which request", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const agent = "shop/1.0 ".repeat(40)
      const json = { name: "Ada", email: "ada@example.com", country: "DE" }
      const headers = { "user-agent": agent, "idempotency-key": "once" }
      const created = yield* api.expect(201, "POST", "/v1/customers", { json, headers })
      // A repeat changes nothing, so that it has no record.
      yield* api.expect(201, "POST", "/v1/customers", { json, headers })
      yield* api.expect(200, "GET", `/v1/customers/${created.id}`)
      const list = yield* api.expect(200, "GET", "/v1/audit_log", { query: { object_id: created.id } })
      assert.lengthOf(list.ids, 1)
      const record = list.at("data", 0) as Record<string, unknown>
      assert.deepInclude(record, {
        object: "audit_record",
        action: "customer.created",
        object_id: created.id,
        actor_type: "key",
        actor_role: null,
        before: null,
        after: { country: "DE", tax_status: "taxable", collection_method: "charge_automatically" },
        left_out: ["name", "email", "metadata"],
        user_agent: agent.slice(0, 256),
        request_id: created.headers["request-id"],
        livemode: false,
        created_at: ApiServer.NOW,
      })
      assert.match(String(record["actor_id"]), /^key_/)
      assert.match(String(record["ip"]), /^(127\.0\.0\.1|::1)$/)
      const one = yield* api.expect(200, "GET", `/v1/audit_log/${list.ids[0]}`)
      assert.deepStrictEqual(one.body, record)
    }),
  )

  it.effect("is exported whole, as lines, with the filters of the list", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const names = Array.from({ length: 101 }, (_, index) => `Customer ${index}`)
      yield* Effect.forEach(names, (name) =>
        api.expect(201, "POST", "/v1/customers", { json: { name, email: "ada@example.com" } }),
      )
      const exported = Effect.fnUntraced(function* (query: Record<string, string>) {
        const { text } = yield* api.expect(200, "GET", "/v1/audit_log/export", { query })
        const lines = text.split("\n")
        assert.strictEqual(lines.pop(), "")
        return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      })
      const all = yield* exported({ action: "customer.created" })
      assert.lengthOf(all, names.length)
      assert.lengthOf([...new Set(all.map((record) => record["id"]))], names.length)
      const list = yield* api.expect(200, "GET", "/v1/audit_log", { query: { action: "customer.created" } })
      assert.deepStrictEqual(all[0], list.at("data", 0))
      assert.deepStrictEqual(yield* exported({ object_id: String(all[7]!["object_id"]) }), [all[7]])
      assert.deepStrictEqual(yield* exported({ action: "coupon.created" }), [])
      const wrong = yield* api.expect(400, "GET", "/v1/audit_log/export", {
        query: { created_after: "yesterday" },
      })
      assert.include(wrong.message, "created_after")
      const other = (yield* api.issue({ scopes: ["customers:*"] })).secret
      yield* api.expect(403, "GET", "/v1/audit_log/export", { key: other })
    }),
  )

  it.effect("needs a scope of its own, and is only read", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const other = (yield* api.issue({ scopes: ["customers:*"] })).secret
      yield* api.expect(403, "GET", "/v1/audit_log", { key: other })
      const reader = (yield* api.issue({ scopes: ["audit:read"] })).secret
      yield* api.expect(200, "GET", "/v1/audit_log", { key: reader })
      yield* api.expect(403, "POST", "/v1/customers", { key: reader, json: {} })
      for (const method of ["POST", "PATCH", "DELETE"]) {
        yield* api.expect(405, method, "/v1/audit_log", { json: {} })
      }
      const wrong = yield* api.expect(400, "GET", "/v1/audit_log", { query: { created_after: "yesterday" } })
      assert.include(wrong.message, "created_after")
    }),
  )
})
