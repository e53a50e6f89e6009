/**
 * The four endpoints of the specification, with exactly its requests.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

describe("the specification", () => {
  it.effect("POST {base_url}/customers · GET {base_url}/customers", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const created = yield* api.expect(201, "POST", "/v1/customers", {
        json: { email: "customer@example.com", name: "Example", metadata: { key: "value" } },
        key: api.liveKey,
      })
      assert.isString(created.at("id"))
      assert.strictEqual(created.at("name"), "Example")
      const list = yield* api.expect(200, "GET", "/v1/customers?limit=10", { key: api.liveKey })
      assert.isArray(list.at("data"))
      assert.deepInclude(list.at("data", 0), { id: created.id, name: "Example" })
    }),
  )

  it.effect("POST {base_url}/usage · GET {base_url}/usage", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      yield* api.expect(201, "POST", "/v1/usage", {
        json: { customer_id: customer, product_id: "prod_1", quantity: 100, unit: "requests" },
      })
      const total = yield* api.expect(200, "GET", `/v1/usage?customer_id=${customer}`)
      assert.deepInclude(total.body, { total_quantity: 100, unit: "requests" })
      const period = yield* api.expect(
        200,
        "GET",
        `/v1/usage?customer_id=${customer}&start_date=2026-11-01&end_date=2026-11-30`,
      )
      assert.deepInclude(period.body, { total_quantity: 100, unit: "requests" })
    }),
  )

  it.effect("error responses have { error, message }, with the missing parameter", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const missing = { error: "invalid_request", message: "customer_id is required" }
      assert.deepStrictEqual((yield* api.expect(400, "GET", "/v1/usage")).body, missing)
      const json = { product_id: "prod_1", quantity: 100, unit: "requests" }
      assert.deepStrictEqual((yield* api.expect(400, "POST", "/v1/usage", { json })).body, missing)
    }),
  )
})
