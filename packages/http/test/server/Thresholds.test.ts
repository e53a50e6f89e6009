import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"

const thresholdOf = (customer: string, fields: object = {}) => ({
  customer_id: customer,
  product_id: "api",
  unit: "call",
  quantity: 10,
  period: "month",
  ...fields,
})

describe("usage thresholds", () => {
  it.effect("can be created, read, listed and deleted", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const created = yield* api.expect(201, "POST", "/v1/usage/thresholds", { json: thresholdOf(customer) })
      assert.deepStrictEqual(created.body, {
        object: "usage_threshold",
        id: created.id,
        ...thresholdOf(customer),
        last_fired_at: null,
        livemode: false,
        created_at: ApiServer.NOW,
      })
      const path = `/v1/usage/thresholds/${created.id}`
      assert.strictEqual((yield* api.expect(200, "GET", path)).text, created.text)

      const other = yield* api.newCustomer()
      const ids = [created.id]
      for (const period of ["day", "lifetime"]) {
        const json = thresholdOf(other, { period })
        ids.unshift((yield* api.expect(201, "POST", "/v1/usage/thresholds", { json })).id)
      }
      const list = (query: object) =>
        api.expect(200, "GET", "/v1/usage/thresholds", { query: { limit: 2, ...query } })
      assert.deepStrictEqual((yield* list({})).ids, ids.slice(0, 2))
      assert.deepStrictEqual((yield* list({ starting_after: ids[1] })).ids, [created.id])
      assert.deepStrictEqual((yield* list({ ending_before: ids[2] })).ids, ids.slice(0, 2))
      assert.deepStrictEqual((yield* list({ customer_id: customer })).ids, [created.id])
      assert.deepStrictEqual((yield* list({ customer_id: ApiServer.UNKNOWN.customer })).ids, [])

      const deleted = yield* api.expect(200, "DELETE", path)
      assert.deepStrictEqual(deleted.body, { object: "usage_threshold", id: created.id, deleted: true })
      yield* api.expect(404, "DELETE", path)
      yield* api.expect(404, "GET", path)
    }),
  )

  it.effect("have the time when they last fired", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const created = yield* api.expect(201, "POST", "/v1/usage/thresholds", { json: thresholdOf(customer) })
      yield* api.record(customer, { quantity: 9 })
      const path = `/v1/usage/thresholds/${created.id}`
      assert.strictEqual((yield* api.expect(200, "GET", path)).at("last_fired_at"), null)
      yield* TestClock.adjust("1 minute")
      yield* api.record(customer, { quantity: 1 })
      const fired = "2026-11-21T09:31:00.000Z"
      assert.strictEqual((yield* api.expect(200, "GET", path)).at("last_fired_at"), fired)
    }),
  )

  it.effect("are refused with the name of the wrong field", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const quantity = "quantity must be an integer from 1 to 10^30"
      const cases = [
        [{}, "customer_id is required"],
        [thresholdOf(customer, { quantity: 0 }), quantity],
        [thresholdOf(customer, { quantity: -1 }), quantity],
        [thresholdOf(customer, { quantity: 1.5 }), quantity],
        [thresholdOf(customer, { quantity: "10" }), quantity],
        [thresholdOf(customer, { quantity: null }), quantity],
        [thresholdOf(customer, { quantity: true }), quantity],
        [thresholdOf(customer, { period: "week" }), "period must be "],
        [thresholdOf(customer, { note: "" }), "note is not a known field"],
      ] as const
      for (const [json, message] of cases) {
        const refused = yield* api.expect(400, "POST", "/v1/usage/thresholds", { json })
        assert.isTrue(refused.message.startsWith(message), refused.message)
      }
      const json = thresholdOf(ApiServer.UNKNOWN.customer)
      const unknown = yield* api.expect(404, "POST", "/v1/usage/thresholds", { json })
      assert.isTrue(unknown.message.startsWith("customer_id: "), unknown.message)
      assert.lengthOf((yield* api.snapshot).thresholds, 0)
    }),
  )

  it.effect("are limited to 100 for a customer, product and unit", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const create = (status: number, fields: object) =>
        api.expect(status, "POST", "/v1/usage/thresholds", { json: thresholdOf(customer, fields) })
      for (let quantity = 1; quantity <= 100; quantity++) yield* create(201, { quantity })
      const refused = yield* create(409, { quantity: 101 })
      assert.strictEqual(refused.error, "conflict")
      yield* create(201, { product_id: "web" })
    }),
  )
})
