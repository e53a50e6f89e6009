import { makeOpenApiDocument } from "@billwright/http/api"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { INVOICE_ACTIONS } from "../../src/api/InvoiceBody.ts"
import * as ApiServer from "../ApiServer.ts"
import { node } from "../Judge.ts"
import { securedOperations } from "../Operations.ts"

const PRO = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
}

const schemas = node(node(node(makeOpenApiDocument())["components"])["schemas"])
/** The words that a resource may have as its available actions. */
const actionsOf = (schema: string): ReadonlyArray<string> =>
  node(node(node(node(schemas[schema])["properties"])["available_actions"])["items"])["enum"] as never

describe("an action that a resource allows", () => {
  it("has an operation", () => {
    const operations = securedOperations.map(({ id }) => id)
    assert.sameMembers([...actionsOf("Invoice")], Object.keys(INVOICE_ACTIONS))
    for (const operation of Object.values(INVOICE_ACTIONS)) assert.include(operations, operation)
    for (const action of actionsOf("Subscription")) assert.include(operations, `${action}Subscription`)
  })
})

/** A server with a customer that has a pending charge of 49.00. */
const begin = Effect.gen(function* () {
  const api = yield* ApiServer.start()
  const customer = yield* api.newCustomer()
  const item = { customer_id: customer, currency: "EUR", amount: 4900, description: "Onboarding" }
  const { id } = yield* api.expect(201, "POST", "/v1/invoice_items", { json: item })
  return { api, customer, item: id }
})

describe("one-off invoices", () => {
  it.effect("are created of pending items, issued by call and deleted as drafts", () =>
    Effect.gen(function* () {
      const { api, customer, item } = yield* begin
      const json = { customer_id: customer, currency: "EUR" }
      const draft = yield* api.expect(201, "POST", "/v1/invoices", { json })
      assert.deepInclude(draft.body, {
        object: "invoice",
        status: "draft",
        subscription_id: null,
        total: 4900,
        finalizes_at: null,
        available_actions: ["finalize"],
      })
      assert.strictEqual(draft.at("lines", 0, "id"), item)
      assert.deepStrictEqual((yield* api.expect(200, "DELETE", `/v1/invoices/${draft.id}`)).body, {
        object: "invoice",
        id: draft.id,
        deleted: true,
      })
      yield* api.expect(404, "GET", `/v1/invoices/${draft.id}`)
      const again = yield* api.expect(201, "POST", "/v1/invoices", { json })
      // A key makes no difference: its transaction ends with the request.
      const headers = { "idempotency-key": "finalize-1" }
      const path = `/v1/invoices/${again.id}/finalize`
      const issued = yield* api.expect(200, "POST", path, { headers })
      assert.deepInclude(issued.body, { status: "open", number: "2026-0001", amount_due: 4900 })
      assert.deepStrictEqual((yield* api.expect(200, "POST", path, { headers })).body, issued.body)
      const refused = yield* api.expect(409, "POST", path)
      assert.strictEqual(refused.at("message"), `${again.id}: finalize is not possible: the invoice is open`)
      yield* api.expect(409, "DELETE", `/v1/invoices/${again.id}`)
    }),
  )

  it.effect("are created of given lines, and what is wrong with them is named", () =>
    Effect.gen(function* () {
      const { api, customer } = yield* begin
      const line = { description: "Workshop", amount: 90_000, period_start: "2026-11-20T00:00:00Z" }
      const json = { customer_id: customer, currency: "EUR", lines: [line] }
      const half = yield* api.expect(400, "POST", "/v1/invoices", { json })
      assert.strictEqual(half.at("message"), "lines[0].period_end must be given together with the start")
      const whole = { ...line, period_end: "2026-11-21T00:00:00Z", tax_code: "reduced" }
      const draft = yield* api.expect(201, "POST", "/v1/invoices", { json: { ...json, lines: [whole] } })
      assert.strictEqual(draft.at("total"), 90_000)
      assert.strictEqual(draft.at("lines", 0, "period_start"), "2026-11-20T00:00:00.000Z")
      const none = { ...json, lines: [{ ...line, amount: 0 }] }
      const zero = yield* api.expect(400, "POST", "/v1/invoices", { json: none })
      assert.strictEqual(
        zero.at("message"),
        "lines[0].amount must be an integer from -10^15 to 10^15, and not 0",
      )
    }),
  )
})

describe("the records behind a line", () => {
  it.effect("are listed page by page", () =>
    Effect.gen(function* () {
      const { api, customer } = yield* begin
      const calls = { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.01" } }
      const meter = { key: "calls", product_id: "api", unit: "call" }
      yield* api.expect(201, "POST", "/v1/meters", { json: meter })
      const plan = { ...PRO, charges: [...PRO.charges, calls] }
      yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [plan] } })
      const json = { customer_id: customer, plan: "pro" }
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json })
      const first = (yield* api.record(customer, { quantity: 300 })).id
      const second = (yield* api.record(customer, { quantity: 200 })).id
      yield* TestClock.adjust("1 hour")
      yield* api.expect(200, "POST", `/v1/subscriptions/${id}/cancel`, { json: { at: "now" } })
      const invoices = yield* api.expect(200, "GET", `/v1/invoices?subscription_id=${id}`)
      const invoice = String(invoices.at("data", 0, "id"))
      const path = `/v1/invoices/${invoice}/lines/0.0.calls/records`
      const page = yield* api.expect(200, "GET", `${path}?limit=1`)
      assert.deepStrictEqual([page.at("data", 0, "id"), page.at("has_more")], [second, true])
      const rest = yield* api.expect(200, "GET", `${path}?limit=1&starting_after=${second}`)
      assert.deepStrictEqual([rest.at("data", 0, "id"), rest.at("has_more")], [first, false])
      const unknown = yield* api.expect(400, "GET", `/v1/invoices/${invoice}/lines/none/records`)
      assert.strictEqual(unknown.at("message"), "line_id is not a line of the invoice")
      yield* api.expect(404, "GET", `/v1/invoices/${ApiServer.UNKNOWN.invoice}/lines/none/records`)
    }),
  )
})

describe("the upcoming invoice", () => {
  it.effect("is that of the next period, or none", () =>
    Effect.gen(function* () {
      const { api, customer } = yield* begin
      yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [PRO] } })
      const json = { customer_id: customer, plan: "pro" }
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json })
      const path = `/v1/invoices/upcoming?subscription_id=${id}`
      const upcoming = yield* api.expect(200, "GET", path)
      assert.strictEqual(upcoming.at("object"), "upcoming_invoice")
      assert.strictEqual(upcoming.at("invoice", "total"), 2000)
      assert.strictEqual(upcoming.at("invoice", "finalizes_at"), "2026-12-21T09:30:00.000Z")
      yield* api.expect(200, "POST", `/v1/subscriptions/${id}/pause`)
      assert.isNull((yield* api.expect(200, "GET", path)).at("invoice"))
      yield* api.expect(404, "GET", `/v1/invoices/upcoming?subscription_id=${ApiServer.UNKNOWN.subscription}`)
      const lacking = yield* api.expect(400, "GET", "/v1/invoices/upcoming")
      assert.strictEqual(lacking.at("message"), "subscription_id is required")
    }),
  )
})

describe("an invoice as PDF", () => {
  it.effect("is bytes, and a conflict where nothing makes it", () =>
    Effect.gen(function* () {
      // Bytes that are no text.
      const bytes = new Uint8Array([0x25, 0x50, 0x44, 0x46, 0xff, 0x00, 0x80])
      const makers = [{ pdf: () => Promise.resolve(bytes) }, {}]
      for (const billing of makers) {
        const api = yield* ApiServer.start({ billing })
        const customer = yield* api.newCustomer()
        const lines = [{ description: "Workshop", amount: 4900 }]
        const json = { customer_id: customer, currency: "EUR", lines }
        const { id } = yield* api.expect(201, "POST", "/v1/invoices", { json })
        if (!("pdf" in billing)) {
          const refused = yield* api.expect(409, "GET", `/v1/invoices/${id}/pdf`)
          assert.match(String(refused.at("message")), /npm install @billwright\/pdf/)
          continue
        }
        const answer = yield* api.expect(200, "GET", `/v1/invoices/${id}/pdf`)
        assert.strictEqual(answer.headers["content-type"], "application/pdf")
        assert.strictEqual(answer.headers["content-length"], "7")
        yield* api.expect(404, "GET", `/v1/invoices/${ApiServer.UNKNOWN.invoice}/pdf`)
      }
    }),
  )
})

describe("an invoice as a page", () => {
  it.effect("is HTML with a policy, and errors stay JSON", () =>
    Effect.gen(function* () {
      const { api, customer } = yield* begin
      const json = { customer_id: customer, currency: "EUR" }
      const draft = yield* api.expect(201, "POST", "/v1/invoices", { json })
      const path = `/v1/invoices/${draft.id}/html`
      const page = yield* api.expect(200, "GET", path)
      assert.strictEqual(page.headers["content-type"], "text/html")
      assert.match(
        page.headers["content-security-policy"] ?? "",
        /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:;.* frame-ancestors 'self'$/,
      )
      assert.strictEqual(page.headers["x-content-type-options"], "nosniff")
      assert.include(page.text, "<!doctype html>")
      assert.include(page.text, "Onboarding")
      const head = yield* api.expect(200, "HEAD", path)
      assert.deepStrictEqual([head.status, head.text], [200, ""])
      const missing = yield* api.expect(404, "GET", `/v1/invoices/${ApiServer.UNKNOWN.invoice}/html`)
      assert.strictEqual(missing.at("error"), "not_found")
    }),
  )
})
