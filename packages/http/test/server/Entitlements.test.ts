import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

const exporter = {
  key: "exporter",
  name: "Exporter",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [],
  features: {
    exports: { type: "metered", meter: "exports", included: "10", limit: "hard" },
    seats: { type: "config", value: "5" },
  },
}

/** A server with a customer whose plan includes 10 exports in a period. */
const begin = Effect.gen(function* () {
  const api = yield* ApiServer.start()
  const customer_id = yield* api.newCustomer()
  const meter = { key: "exports", product_id: "export", unit: "export" }
  yield* api.expect(201, "POST", "/v1/meters", { json: meter })
  yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [exporter] } })
  const json = { customer_id, plan: "exporter" }
  const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json })
  const entitlement = {
    customer_id,
    feature: "exports",
    type: "metered",
    allowed: true,
    reason: "included",
    value: null,
    subscription_id: id,
    meter: "exports",
    limit_type: "hard",
    limit: 10,
    used: 0,
    balance: 10,
    overage: 0,
    period_start: ApiServer.NOW,
    resets_at: "2026-12-21T09:30:00.000Z",
    livemode: false,
  }
  return { api, asked: { customer_id, feature: "exports" }, entitlement }
})

describe("entitlements", () => {
  it.effect("are listed, checked and consumed", () =>
    Effect.gen(function* () {
      const { api, asked, entitlement } = yield* begin
      const object = "entitlement"
      const listed = yield* api.expect(200, "GET", `/v1/entitlements?customer_id=${asked.customer_id}`)
      const rolled_over = 0
      const none = {
        rolled_over: null,
        meter: null,
        limit_type: null,
        limit: null,
        used: null,
        balance: null,
        overage: null,
      }
      const seats = { ...entitlement, feature: "seats", type: "config", value: "5", ...none }
      assert.deepStrictEqual(listed.body, {
        object: "list",
        data: [
          { object, ...entitlement, rolled_over },
          { object, ...seats, period_start: null, resets_at: null },
        ],
        has_more: false,
      })
      const checked = yield* api.expect(200, "POST", "/v1/entitlements/check", { json: asked })
      assert.deepStrictEqual(checked.body, { object, ...entitlement, rolled_over })
      const tooMuch = { ...asked, quantity: 11 }
      const refused = yield* api.expect(200, "POST", "/v1/entitlements/check", { json: tooMuch })
      assert.deepInclude(refused.body, { allowed: false, reason: "limit_reached", balance: 10 })
      const use = { ...asked, quantity: 4, idempotency_key: "k", dimensions: { region: "eu" } }
      const consumed = yield* api.expect(200, "POST", "/v1/entitlements/consume", { json: use })
      const record = consumed.at("usage_record_id")
      const answer = {
        object: "entitlement_consumption",
        ...entitlement,
        used: 4,
        balance: 6,
        quantity: 4,
        usage_record_id: record,
        idempotency_key: "k",
      }
      assert.deepStrictEqual(consumed.body, answer)
      const again = yield* api.expect(200, "POST", "/v1/entitlements/consume", { json: use })
      assert.deepStrictEqual(again.body, answer)
      const stored = yield* api.expect(200, "GET", `/v1/usage/records/${String(record)}`)
      assert.deepInclude(stored.body, { quantity: 4, idempotency_key: "k" })
      const other = yield* api.expect(409, "POST", "/v1/entitlements/consume", {
        json: { ...use, quantity: 5 },
      })
      assert.deepStrictEqual(other.body, {
        error: "conflict",
        message: `idempotency_key was already used with other content, by ${String(record)}`,
      })
      const beyond = { ...asked, quantity: 7 }
      const late = yield* api.expect(200, "POST", "/v1/entitlements/consume", { json: beyond })
      assert.deepInclude(late.body, { allowed: false, usage_record_id: null, used: 4 })
      const events = yield* api.expect(200, "GET", "/v1/events?type=entitlement.limit_reached")
      assert.deepStrictEqual(events.at("data", 0, "data", "used"), 4)
    }),
  )

  it.effect("are refused with an error that names the field", () =>
    Effect.gen(function* () {
      const { api, asked } = yield* begin
      const attempts: ReadonlyArray<readonly [path: string, json: object, status: number, message: string]> =
        [
          ["check", { ...asked, quantity: 0 }, 400, "quantity must be an integer from 1 to 9007199254740991"],
          [
            "consume",
            { ...asked, feature: "Exports" },
            400,
            "feature must be a lower-case letter, then up to 63 lower-case letters, digits or underscores",
          ],
          [
            "consume",
            { ...asked, feature: "seats" },
            400,
            `feature "seats" is not metered: only what is metered can be consumed`,
          ],
          [
            "check",
            { ...asked, customer_id: ApiServer.UNKNOWN.customer },
            404,
            `customer_id: no customer has the id ${ApiServer.UNKNOWN.customer}`,
          ],
        ]
      for (const [path, json, status, message] of attempts) {
        const refused = yield* api.expect(status, "POST", `/v1/entitlements/${path}`, { json })
        assert.strictEqual(refused.at("message"), message)
      }
    }),
  )
})
