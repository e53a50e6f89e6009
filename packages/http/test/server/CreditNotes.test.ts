import { BillingRuns } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

const PRO = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
}

/** A server with an issued invoice of 18.00: 20.00 less a coupon. */
const begin = Effect.gen(function* () {
  const api = yield* ApiServer.start()
  yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [PRO] } })
  const coupon = { code: "TENTH", name: "A tenth", percent: "10", duration: "once" }
  const made = yield* api.expect(201, "POST", "/v1/coupons", { json: coupon })
  const json = { customer_id: yield* api.newCustomer(), plan: "pro", coupon: "TENTH" }
  const subscription = (yield* api.expect(201, "POST", "/v1/subscriptions", { json })).id
  yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
  const invoices = yield* api.expect(200, "GET", `/v1/invoices?subscription_id=${subscription}`)
  return { api, coupon: made.id, subscription, invoice: String(invoices.at("data", 0, "id")) }
})

describe("coupons", () => {
  it.effect("are redeemed by a new subscription, and its invoice has the discount", () =>
    Effect.gen(function* () {
      const { api, coupon, invoice, subscription } = yield* begin
      const found = yield* api.expect(200, "GET", `/v1/invoices/${invoice}`)
      const redeemed = yield* api.expect(200, "GET", `/v1/redemptions?subscription_id=${subscription}`)
      const redemption = String(redeemed.at("data", 0, "id"))
      assert.deepStrictEqual(found.at("discounts"), [
        {
          type: "coupon",
          id: redemption,
          name: "A tenth",
          percent: "10",
          base: 2000,
          amount: 200,
          parts: [{ line_id: "0.0.base", amount: 200 }],
        },
      ])
      assert.strictEqual(found.at("total"), 1800)
      assert.strictEqual((yield* api.expect(200, "GET", `/v1/coupons/${coupon}`)).at("times_redeemed"), 1)
      const json = { coupon: "TENTH", subscription_id: subscription }
      const again = yield* api.expect(400, "POST", "/v1/redemptions", { json })
      assert.strictEqual(again.at("message"), "coupon is on the subscription already")
      yield* api.expect(200, "DELETE", `/v1/redemptions/${redemption}`)
      assert.strictEqual(
        (yield* api.expect(200, "GET", `/v1/redemptions/${redemption}`)).at("coupon"),
        "TENTH",
      )
    }),
  )
})

describe("credit notes", () => {
  it.effect("are created, read and listed, and lower what is due", () =>
    Effect.gen(function* () {
      const { api, invoice } = yield* begin
      const lines = [{ line_id: "0.0.base", amount: 300 }]
      const json = { invoice_id: invoice, lines, reason: "unsatisfactory" }
      const note = yield* api.expect(201, "POST", "/v1/credit_notes", { json })
      assert.match(note.id, /^crn_/)
      assert.deepInclude(note.body, {
        object: "credit_note",
        number: "CN-2026-0001",
        invoice_id: invoice,
        reason: "unsatisfactory",
        net: 300,
        tax: 0,
        total: 300,
        waived: 300,
        refund: 0,
        to_balance: 0,
        issued_at: ApiServer.NOW,
        livemode: false,
      })
      const found = yield* api.expect(200, "GET", `/v1/credit_notes/${note.id}`)
      assert.deepStrictEqual(found.body, note.body)
      const listed = yield* api.expect(200, "GET", `/v1/credit_notes?invoice_id=${invoice}`)
      assert.deepStrictEqual(listed.at("data"), [note.body])
      assert.strictEqual((yield* api.expect(200, "GET", `/v1/invoices/${invoice}`)).at("amount_due"), 1500)
      const rest = { invoice_id: invoice, reason: "other" }
      yield* api.expect(201, "POST", "/v1/credit_notes", { json: rest })
      const none = yield* api.expect(409, "POST", "/v1/credit_notes", { json: rest })
      assert.strictEqual(none.at("error"), "conflict")
    }),
  )

  it.effect("name the field that is wrong", () =>
    Effect.gen(function* () {
      const { api, invoice } = yield* begin
      const json = { invoice_id: invoice, amount: 1801, reason: "other" }
      const refused = yield* api.expect(400, "POST", "/v1/credit_notes", { json })
      assert.strictEqual(refused.at("message"), "amount must be from 1 to 1800, which is left of the lines")
      const unknown = { ...json, invoice_id: ApiServer.UNKNOWN.invoice }
      yield* api.expect(404, "POST", "/v1/credit_notes", { json: unknown })
    }),
  )
})
