import { BillingRuns, FakeProvider } from "@billwright/core"
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

/** A server with an open invoice of 20.00. */
const begin = Effect.fnUntraced(function* (options?: Parameters<typeof ApiServer.start>[0]) {
  const api = yield* ApiServer.start(options)
  yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [PRO] } })
  const json = { customer_id: yield* api.newCustomer(), plan: "pro" }
  yield* api.expect(201, "POST", "/v1/subscriptions", { json })
  yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
  const invoices = yield* api.expect(200, "GET", "/v1/invoices")
  return { api, customer: json.customer_id, invoice: String(invoices.at("data", 0, "id")) }
})

describe("payments", () => {
  it.effect("are recorded, read and listed, and pay their invoice", () =>
    Effect.gen(function* () {
      const { api, customer, invoice } = yield* begin()
      const json = {
        invoice_id: invoice,
        amount: 800,
        paid_at: "2026-11-20T10:00:00+01:00",
        reference: "TRN 7",
      }
      const payment = yield* api.expect(201, "POST", "/v1/payments", { json })
      assert.deepStrictEqual(payment.body, {
        object: "payment",
        id: payment.id,
        invoice_id: invoice,
        customer_id: customer,
        currency: "EUR",
        provider: "manual",
        reference: "TRN 7",
        status: "succeeded",
        amount: 800,
        applied: 800,
        overpaid: 0,
        paid_at: "2026-11-20T09:00:00.000Z",
        attention: null,
        sequence: 1,
        livemode: false,
        created_at: ApiServer.NOW,
        updated_at: ApiServer.NOW,
      })
      const again = yield* api.expect(201, "POST", "/v1/payments", { json })
      assert.deepStrictEqual(again.body, payment.body)
      const more = { invoice_id: invoice, amount: 1300 }
      const refused = yield* api.expect(400, "POST", "/v1/payments", { json: more })
      assert.strictEqual(
        refused.at("message"),
        "amount must be from 1 to 1200, which is due, unless an overpayment is accepted",
      )
      const rest = yield* api.expect(201, "POST", "/v1/payments", {
        json: { ...more, accept_overpayment: true },
      })
      assert.deepInclude(rest.body, { applied: 1200, overpaid: 100 })
      const found = yield* api.expect(200, "GET", `/v1/payments/${rest.id}`)
      assert.deepStrictEqual(found.body, rest.body)
      for (const query of ["", `?invoice_id=${invoice}`, `?customer_id=${customer}&status=succeeded`]) {
        const listed = yield* api.expect(200, "GET", `/v1/payments${query}`)
        assert.deepStrictEqual(listed.at("data"), [rest.body, payment.body], query)
      }
      const open = yield* api.expect(200, "GET", "/v1/payments?status=open")
      assert.deepStrictEqual(open.at("data"), [])
      const paid = yield* api.expect(200, "GET", `/v1/invoices/${invoice}`)
      assert.deepInclude(paid.body, { status: "paid", amount_paid: 2000, amount_due: 0, collection: "paid" })
      const none = yield* api.expect(409, "POST", "/v1/payments", { json: { invoice_id: invoice } })
      assert.deepStrictEqual(none.body, {
        error: "conflict",
        message: `${invoice}: pay is not possible: the invoice is paid`,
      })
    }),
  )

  it.effect("need their own scopes", () =>
    Effect.gen(function* () {
      const { api, invoice } = yield* begin()
      const { secret: key } = yield* api.issue({ scopes: ["payments:read", "invoices:*"] })
      yield* api.expect(200, "GET", "/v1/payments", { key })
      yield* api.expect(403, "POST", "/v1/payments", { key, json: { invoice_id: invoice } })
    }),
  )

  it.effect("are not found by an unknown id", () =>
    Effect.gen(function* () {
      const { api } = yield* begin()
      yield* api.expect(404, "GET", `/v1/payments/${ApiServer.UNKNOWN.payment}`)
      yield* api.expect(404, "POST", "/v1/payments", { json: { invoice_id: ApiServer.UNKNOWN.invoice } })
    }),
  )

  it.effect("of a provider are made by call, say why a person has to look, and are canceled", () =>
    Effect.gen(function* () {
      let isBroken = true
      const faultOf = (call: string) => (isBroken && call === "openPayment" ? "break" : undefined)
      const decline = {
        status: "declined",
        code: "stop_payment_order",
        advice: null,
        notBefore: null,
      } as const
      const payments = new FakeProvider({ faultOf, outcomeOf: () => (isBroken ? undefined : decline) })
      const { api, invoice } = yield* begin({ billing: { payments } })
      const pay = `/v1/invoices/${invoice}/pay`
      yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
      const broken = yield* api.expect(200, "GET", "/v1/payments?status=open")
      assert.deepStrictEqual(broken.at("data", 0, "attention"), {
        code: "provider_refused",
        message:
          "the provider refused the call for good: mend the cause, and pay the invoice again (the key is wrong)",
        since: ApiServer.NOW,
      })
      isBroken = false
      const declined = yield* api.expect(200, "POST", pay, { json: {} })
      assert.deepInclude(declined.body, { id: invoice, status: "open", collection: "exhausted" })
      const id = String(broken.at("data", 0, "id"))
      const method = { payment_method_id: ApiServer.UNKNOWN.paymentMethod }
      yield* api.expect(404, "POST", pay, { json: method })
      const canceled = yield* api.expect(200, "POST", `/v1/payments/${id}/cancel`)
      assert.deepInclude(canceled.body, { id, status: "closed", attention: null })
      assert.deepStrictEqual(
        (yield* api.expect(200, "POST", `/v1/payments/${id}/cancel`)).body,
        canceled.body,
      )
      const stopped = yield* api.expect(200, "GET", `/v1/invoices/${invoice}`)
      assert.strictEqual(stopped.at("collection"), "stopped")
      const { secret: key } = yield* api.issue({ scopes: ["payments:read", "invoices:*"] })
      yield* api.expect(403, "POST", pay, { key, json: {} })
      yield* api.expect(403, "POST", `/v1/payments/${id}/cancel`, { key })
    }),
  )
})
