import { BillingRuns, FakeProvider, type ProviderFault } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

const PRO = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
}

const PATH = "/payment_providers/fake/webhook"

/** A server with an invoice whose payment the customer has confirmed, which only the provider knows. */
const begin = Effect.gen(function* () {
  const fault: { of?: ProviderFault | undefined } = {}
  const fake = new FakeProvider({
    outcomeOf: () => ({ status: "requires_action" }),
    faultOf: () => fault.of,
  })
  const api = yield* ApiServer.start({ billing: { payments: fake } })
  yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [PRO] } })
  const json = { customer_id: yield* api.newCustomer(), plan: "pro" }
  yield* api.expect(201, "POST", "/v1/subscriptions", { json })
  const { runDue } = yield* api.as({})(BillingRuns)
  for (let calls = 0; calls < 4; calls++) yield* api.as({})(Effect.orDie(runDue()))
  const collection = Effect.map(api.expect(200, "GET", "/v1/invoices"), (list) =>
    list.at("data", 0, "collection"),
  )
  assert.strictEqual(yield* collection, "awaiting_customer")
  fake.settle(fake.payments[0]!.reference, "succeeded")
  const { body, headers } = fake.sign(fake.notices.at(-1)!, {
    at: DateTime.makeUnsafe(ApiServer.NOW).epochMilliseconds,
  })
  return { api, collection, fake, fault, send: { key: null, body, headers: { ...headers } } }
})

describe("the webhook of the payment provider", () => {
  it.effect("takes what is signed, without an API key, once", () =>
    Effect.gen(function* () {
      const { api, collection, send } = yield* begin
      const query = { mode: "test" }
      const other = yield* api.expect(200, "POST", PATH, {
        ...send,
        query: { account_id: "acme", mode: "test" },
      })
      assert.deepStrictEqual(other.body, { outcome: "ignored" })
      assert.strictEqual(yield* collection, "awaiting_customer")
      for (let repeat = 0; repeat < 2; repeat++) {
        const answer = yield* api.expect(200, "POST", PATH, { ...send, query })
        assert.deepStrictEqual(answer.body, { outcome: "accepted" })
        assert.strictEqual(yield* collection, "paid")
      }
    }),
  )

  it.effect("makes a dispute, which is then given by its id", () =>
    Effect.gen(function* () {
      const { api, fake, send } = yield* begin
      const query = { mode: "test" }
      yield* api.expect(200, "POST", PATH, { ...send, query })
      const { reference } = fake.payments[0]!
      fake.dispute(reference, 1_500n)
      const at = DateTime.makeUnsafe(ApiServer.NOW).epochMilliseconds
      const { body, headers } = fake.sign(fake.notices.at(-1)!, { at })
      yield* api.expect(200, "POST", PATH, { key: null, body, headers: { ...headers }, query })
      const list = yield* api.expect(200, "GET", "/v1/disputes", { query: { status: "open" } })
      const dispute = yield* api.expect(200, "GET", `/v1/disputes/${String(list.at("data", 0, "id"))}`)
      assert.deepInclude(dispute.body, { amount: 1_500, status: "open", reversed: 0 })
    }),
  )

  it.effect("refuses what is not signed, too large, or of another provider", () =>
    Effect.gen(function* () {
      const { api, collection, send } = yield* begin
      const query = { mode: "test" }
      const unsigned = yield* api.expect(400, "POST", PATH, { ...send, query, headers: {} })
      assert.include(unsigned.at("message"), "is not signed by the payment provider")
      const parsed = new Uint8Array([...send.body, 32])
      yield* api.expect(400, "POST", PATH, { ...send, query, body: parsed })
      yield* api.expect(400, "POST", PATH, { ...send, query, body: new Uint8Array([0, 255, 254]) })
      yield* api.expect(400, "POST", PATH, { ...send, query: { mode: "both" } })
      yield* api.expect(400, "POST", PATH, { ...send, query: { account_id: "a/b" } })
      yield* api.expect(413, "POST", PATH, { ...send, query, body: new Uint8Array(1_048_577) })
      yield* api.expect(404, "POST", "/payment_providers/other/webhook", { ...send, query })
      yield* api.expect(405, "GET", PATH, { key: null })
      assert.strictEqual(yield* collection, "awaiting_customer")
    }),
  )

  it.effect("asks for the request again while the provider can't be read", () =>
    Effect.gen(function* () {
      const { api, collection, fault, send } = yield* begin
      const query = { mode: "test" }
      fault.of = "lose_reply"
      const answer = yield* api.expect(503, "POST", PATH, { ...send, query })
      assert.strictEqual(answer.at("error"), "unavailable")
      assert.strictEqual(yield* collection, "awaiting_customer")
      fault.of = undefined
      yield* api.expect(200, "POST", PATH, { ...send, query })
      assert.strictEqual(yield* collection, "paid")
    }),
  )
})
