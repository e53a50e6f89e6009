import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

const BATCHES = 100
const BATCH_SIZE = 1000

describe("100,000 records in batches", () => {
  it.effect("are summed exactly", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      let expected = 0n
      for (let batch = 0; batch < BATCHES; batch++) {
        const records = Array.from({ length: BATCH_SIZE }, (_, i) => {
          const n = batch * BATCH_SIZE + i
          // Small to very large quantities, so that the total exceeds 2^53 and 2^64.
          const quantity = n % 3 === 0 ? Number.MAX_SAFE_INTEGER - n : n * 7919
          expected += BigInt(quantity)
          return {
            customer_id: customer,
            product_id: "api",
            unit: "call",
            quantity,
            timestamp: `2026-11-${String(1 + (n % 20)).padStart(2, "0")}T${String(n % 24).padStart(2, "0")}:00:00Z`,
            idempotency_key: `record-${n}`,
          }
        })
        const answer = yield* api.expect(200, "POST", "/v1/usage/batch", { json: { records } })
        assert.strictEqual(answer.at("recorded"), BATCH_SIZE)
        if (batch === 0) {
          const again = yield* api.expect(200, "POST", "/v1/usage/batch", { json: { records } })
          assert.deepInclude(again.body, { recorded: 0, duplicates: BATCH_SIZE })
        }
      }
      assert.isTrue(expected > 2n ** 64n)
      const query = { customer_id: customer }
      const total = yield* api.expect(200, "GET", "/v1/usage", { query })
      assert.include(total.text, `"total_quantity":${expected},`)
      assert.strictEqual(total.at("record_count"), BATCHES * BATCH_SIZE)

      const days = yield* api.expect(200, "GET", "/v1/usage/series", {
        query: { ...query, start_date: "2026-11-01", end_date: "2026-11-20", window: "day" },
      })
      const quantities = [...days.text.matchAll(/"quantity":(\d+)/g)].map(([, digits]) => BigInt(digits ?? 0))
      assert.lengthOf(quantities, 20)
      assert.strictEqual(
        quantities.reduce((sum, quantity) => sum + quantity, 0n),
        expected,
      )
    }),
  )
})
