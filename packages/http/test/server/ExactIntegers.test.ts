import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

const MAX = BigInt(Number.MAX_SAFE_INTEGER)

describe("exact integers", () => {
  it.effect("are kept in totals beyond 2^53 and 2^64, as JSON numbers", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const query = { customer_id: customer }
      const total = Effect.map(
        api.expect(200, "GET", "/v1/usage", { query }),
        ({ text }) => /"total_quantity":(\d+)[,}]/.exec(text)?.[1],
      )
      yield* api.record(customer, { quantity: Number.MAX_SAFE_INTEGER })
      assert.strictEqual(yield* total, String(MAX))
      yield* api.record(customer, { quantity: 2 })
      assert.strictEqual(yield* total, "9007199254740993")
      const record = {
        customer_id: customer,
        product_id: "api",
        unit: "call",
        quantity: Number.MAX_SAFE_INTEGER,
      }
      const records = Array.from({ length: 1000 }, () => record)
      yield* api.expect(200, "POST", "/v1/usage/batch", { json: { records } })
      yield* api.expect(200, "POST", "/v1/usage/batch", { json: { records } })
      const sum = 2001n * MAX + 2n
      assert.isTrue(sum < 2n ** 64n)
      assert.strictEqual(yield* total, String(sum))
      yield* api.expect(200, "POST", "/v1/usage/batch", { json: { records } })
      assert.isTrue(sum + 1000n * MAX > 2n ** 64n)
      assert.strictEqual(yield* total, String(sum + 1000n * MAX))

      const series = yield* api.expect(200, "GET", "/v1/usage/series", {
        query: { ...query, start_date: "2026-11-21", end_date: "2026-11-21", window: "day" },
      })
      assert.include(series.text, `"quantity":${sum + 1000n * MAX},`)
    }),
  )

  it.effect("are kept in thresholds from 1 to 10^30, in requests and answers", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const body = (quantity: string) =>
        `{"customer_id": "${customer}", "product_id": "api", "unit": "call", "period": "day", "quantity": ${quantity}}`
      const quantities = [1n, MAX, MAX + 1n, MAX + 2n, 2n ** 64n + 1n, 10n ** 30n - 1n, 10n ** 30n].map(
        String,
      )
      for (const quantity of quantities) {
        const created = yield* api.expect(201, "POST", "/v1/usage/thresholds", { body: body(quantity) })
        assert.include(created.text, `"quantity":${quantity},`)
        const found = yield* api.expect(200, "GET", `/v1/usage/thresholds/${created.id}`)
        assert.strictEqual(found.text, created.text)
      }
      const spelt = [
        ["1e21", 10n ** 21n],
        ["1E+30", 10n ** 30n],
        ["1.5e21", 15n * 10n ** 20n],
        ["9007199254740993.0", MAX + 2n],
      ] as const
      for (const [spelling, quantity] of spelt) {
        const created = yield* api.expect(201, "POST", "/v1/usage/thresholds", { body: body(spelling) })
        assert.include(created.text, `"quantity":${quantity},`)
      }
      const refused = [
        "0",
        String(10n ** 30n + 1n),
        "1e31",
        "-1e21",
        "9007199254740993.5",
        "1.5",
        "-1",
        "1e400",
        `"1"`,
      ]
      for (const quantity of refused) {
        const answer = yield* api.expect(400, "POST", "/v1/usage/thresholds", { body: body(quantity) })
        assert.strictEqual(answer.message, "quantity must be an integer from 1 to 10^30")
      }
      const list = yield* api.expect(200, "GET", "/v1/usage/thresholds")
      for (const quantity of quantities) assert.include(list.text, `"quantity":${quantity},`)
    }),
  )

  it.effect("fire a threshold beyond 2^53 at its exact total", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const body = `{"customer_id": "${customer}", "product_id": "api", "unit": "call", "period": "lifetime", "quantity": 9007199254740993}`
      const { id } = yield* api.expect(201, "POST", "/v1/usage/thresholds", { body })
      const firedAt = Effect.map(api.expect(200, "GET", `/v1/usage/thresholds/${id}`), (answer) =>
        answer.at("last_fired_at"),
      )
      yield* api.record(customer, { quantity: Number.MAX_SAFE_INTEGER })
      yield* api.record(customer, { quantity: 1 })
      assert.strictEqual(yield* firedAt, null)
      yield* api.record(customer, { quantity: 1 })
      assert.strictEqual(yield* firedAt, ApiServer.NOW)
    }),
  )
})
