import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

const card = {
  key: "llm",
  unit: "credit",
  decimals: 4,
  models: { large: { input: "2.00", cache_read: "0.20", output: "8.00" } },
}
const used = {
  rate_card: "llm",
  model: "large",
  tokens: { input: 1_000, cache_read: 9_000, output: 500 },
}

/** A server with a rate card, and a customer who has 1,000 ten-thousandths of a credit. */
const begin = Effect.gen(function* () {
  const api = yield* ApiServer.start()
  const push = (models: object) =>
    api.expect(200, "POST", "/v1/catalog/push", { json: { rate_cards: [{ ...card, models }] } })
  yield* push(card.models)
  const account = { customer_id: yield* api.newCustomer(), unit: "credit" }
  const json = { ...account, kind: "paid", amount: 1_000 }
  yield* api.expect(201, "POST", "/v1/credit_grants", { json })
  const balance = Effect.map(
    api.expect(200, "GET", `/v1/credit_balance?${new URLSearchParams(account).toString()}`),
    (answer) => [answer.at("available"), answer.at("held"), answer.at("debt")],
  )
  return { account, api, balance, push }
})

describe("token usage", () => {
  it.effect("says what the tokens of a hold cost, step by step", () =>
    Effect.gen(function* () {
      const { account, api, balance } = yield* begin
      const hold = yield* api.expect(201, "POST", "/v1/holds", { json: { ...account, amount: 100 } })
      const path = `/v1/holds/${hold.id}/commit`
      const committed = yield* api.expect(200, "POST", path, { json: used })
      const usage = committed.at("token_usage") as Record<string, unknown>
      assert.deepStrictEqual(committed.body, {
        ...((yield* api.expect(200, "GET", `/v1/holds/${hold.id}`)).body as object),
        committed: 78,
        token_usage: {
          object: "token_usage",
          id: usage["id"],
          customer_id: account.customer_id,
          ...used,
          version: 1,
          tokens: { ...used.tokens, cache_write: 0, reasoning: 0 },
          unit: "credit",
          status: "rated",
          amount: 78,
          exact: "0.0078",
          steps: [
            { type: "tokens", kind: "input", tokens: "1000", price: "2", per: "1000000", amount: "0.002" },
            {
              type: "tokens",
              kind: "cache_read",
              tokens: "9000",
              price: "0.2",
              per: "1000000",
              amount: "0.0018",
            },
            { type: "tokens", kind: "output", tokens: "500", price: "8", per: "1000000", amount: "0.004" },
            { type: "round", digits: 4, amount: "0.0078" },
          ],
          unpriced: null,
          hold_id: hold.id,
          consumption_id: null,
          idempotency_key: null,
          waived_by: null,
          waive_reason: null,
          settled_at: ApiServer.NOW,
          livemode: false,
          created_at: ApiServer.NOW,
        },
      })
      assert.deepStrictEqual((yield* api.expect(200, "POST", path, { json: used })).body, committed.body)
      assert.deepStrictEqual(yield* balance, [922, 0, 0])
      const other = { ...used, tokens: { input: 1 } }
      const refused = yield* api.expect(409, "POST", path, { json: other })
      assert.strictEqual(
        refused.at("message"),
        `${hold.id}: commit is not possible: it is committed with an amount of 78`,
      )
    }),
  )

  it.effect("waits without a price until it is rated or waived", () =>
    Effect.gen(function* () {
      const { account, api, balance, push } = yield* begin
      const { customer_id } = account
      const json = { customer_id, ...used, model: "larger" }
      const [first, second] = [
        yield* api.expect(201, "POST", "/v1/token_usages", { json: { ...json, idempotency_key: "call" } }),
        yield* api.expect(201, "POST", "/v1/token_usages", { json }),
      ]
      assert.deepInclude(first.body, { status: "unrated", amount: null, unpriced: null, settled_at: null })
      const events = yield* api.expect(200, "GET", "/v1/events?type=usage.unrated")
      assert.deepStrictEqual(
        [events.at("data", 0, "data", "token_usage_id"), events.at("data", 1, "data", "token_usage_id")],
        [second.id, first.id],
      )
      const path = `/v1/token_usages/${first.id}`
      const early = yield* api.expect(409, "POST", `${path}/rate`)
      assert.strictEqual(early.at("message"), `${first.id}: rate is not possible: llm@1 has no price for it`)
      yield* push({ ...card.models, larger: { input: "20", cache_read: "20", output: "20" } })
      const rated = yield* api.expect(200, "POST", `${path}/rate`)
      assert.deepInclude(rated.body, { status: "rated", amount: 2_100, version: 2 })
      assert.deepStrictEqual((yield* api.expect(200, "POST", `${path}/rate`)).body, rated.body)
      assert.deepStrictEqual((yield* api.expect(200, "GET", path)).body, rated.body)
      assert.deepStrictEqual(yield* balance, [0, 0, 1_100])
      const words = { by: "ada@example.com", reason: "A test" }
      const waived = yield* api.expect(200, "POST", `/v1/token_usages/${second.id}/waive`, { json: words })
      assert.deepInclude(waived.body, { status: "waived", waived_by: words.by, waive_reason: words.reason })
      const query = { customer_id, status: "waived", model: "larger" }
      const list = yield* api.expect(200, "GET", "/v1/token_usages", { query })
      assert.deepStrictEqual(list.at("data"), [waived.body])
      assert.deepStrictEqual(yield* balance, [0, 0, 1_100])
    }),
  )

  it.effect("refuses input that breaks a rule", () =>
    Effect.gen(function* () {
      const { account, api } = yield* begin
      const { customer_id } = account
      const hold = yield* api.expect(201, "POST", "/v1/holds", { json: { ...account, amount: 100 } })
      const wrong: ReadonlyArray<readonly [object, string]> = [
        [{ tokens: { input: -1 } }, "tokens.input must be an integer from 0 to 1000000000000"],
        [{ tokens: { input: 1e12 + 1 } }, "tokens.input must be an integer from 0 to 1000000000000"],
        [{ tokens: { cached: 1 } }, "tokens.cached is not a known field"],
        [{ model: "" }, "model must be 1 to 200 characters"],
      ]
      for (const [change, message] of wrong) {
        for (const path of ["/v1/token_usages", `/v1/holds/${hold.id}/commit`]) {
          const whose = path.startsWith("/v1/holds") ? {} : { customer_id }
          const json = { ...whose, ...used, ...change }
          assert.strictEqual((yield* api.expect(400, "POST", path, { json })).at("message"), message)
        }
      }
      const mixed = { amount: 1, ...used }
      const refused = yield* api.expect(400, "POST", `/v1/holds/${hold.id}/commit`, { json: mixed })
      assert.strictEqual(refused.at("message"), "amount must be left out: the tokens say what was used")
      const part = yield* api.expect(400, "POST", `/v1/holds/${hold.id}/commit`, { json: { model: "large" } })
      assert.strictEqual(
        part.at("message"),
        "rate_card is required: the rate card, the model and its tokens belong together",
      )
      const json = { customer_id, ...used, rate_card: "none" }
      yield* api.expect(404, "POST", "/v1/token_usages", { json })
    }),
  )
})
