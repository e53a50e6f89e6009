import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"

/** A server with a customer who has 100 tokens. */
const begin = Effect.gen(function* () {
  const api = yield* ApiServer.start()
  const account = { customer_id: yield* api.newCustomer(), unit: "token" }
  const json = { ...account, kind: "paid", amount: 100, idempotency_key: "order 1" }
  const grant = yield* api.expect(201, "POST", "/v1/credit_grants", { json })
  const query = new URLSearchParams(account).toString()
  const amounts = Effect.map(
    api.expect(200, "GET", `/v1/credit_balance?${query}`),
    ({ body }) => body as Record<string, unknown>,
  )
  return { account, amounts, api, grant, json }
})

describe("credits", () => {
  it.effect("are granted, consumed, listed and voided", () =>
    Effect.gen(function* () {
      const { account, amounts, api, grant, json } = yield* begin
      assert.deepStrictEqual(grant.body, {
        object: "credit_grant",
        id: grant.id,
        ...account,
        kind: "paid",
        amount: 100,
        priority: 50,
        scope: null,
        status: "active",
        available: 100,
        held: 0,
        rollover: null,
        steps: [],
        source: null,
        effective_at: ApiServer.NOW,
        expires_at: null,
        idempotency_key: "order 1",
        livemode: false,
        created_at: ApiServer.NOW,
      })
      const again = yield* api.expect(201, "POST", "/v1/credit_grants", { json })
      assert.deepStrictEqual(again.body, grant.body)
      const other = yield* api.expect(409, "POST", "/v1/credit_grants", { json: { ...json, amount: 101 } })
      assert.strictEqual(
        other.at("message"),
        `the idempotency key was already used with other content, by ${grant.id}`,
      )
      const use = { ...account, amount: 30, idempotency_key: "request 1" }
      const used = yield* api.expect(201, "POST", "/v1/credit_consumptions", { json: use })
      assert.deepStrictEqual(used.body, {
        object: "credit_consumption",
        id: used.id,
        ...use,
        purpose: null,
        balance: { available: 70, held: 0, debt: 0 },
        livemode: false,
        created_at: ApiServer.NOW,
      })
      const tooMuch = { ...account, amount: 71 }
      const refused = yield* api.expect(409, "POST", "/v1/credit_consumptions", { json: tooMuch })
      assert.deepStrictEqual(refused.body, {
        error: "conflict",
        message: "not enough credits: 71 of token were asked for, and 70 are available",
      })
      assert.deepStrictEqual(yield* amounts, {
        object: "credit_balance",
        ...account,
        decimals: 0,
        purpose: null,
        available: 70,
        scoped: 0,
        held: 0,
        debt: 0,
        sequence: 2,
        livemode: false,
      })
      const entries = yield* api.expect(200, "GET", `/v1/credit_entries?grant_id=${grant.id}`)
      assert.deepInclude(entries.at("data", 0), {
        ...account,
        sequence: 2,
        kind: "consume",
        grant_id: grant.id,
        hold_id: null,
        consumption_id: used.id,
        invoice_id: null,
        purpose: null,
        available: -30,
        scoped: 0,
        held: 0,
        debt: 0,
      })
      const voided = yield* api.expect(200, "POST", `/v1/credit_grants/${grant.id}/void`)
      assert.deepInclude(voided.body, { status: "voided", available: 0 })
      const found = yield* api.expect(200, "GET", `/v1/credit_grants/${grant.id}`)
      assert.deepStrictEqual(found.body, voided.body)
      const listed = yield* api.expect(200, "GET", "/v1/credit_grants?unit=token")
      assert.deepStrictEqual(listed.at("data"), [voided.body])
      assert.deepInclude(yield* amounts, { available: 0, sequence: 3 })
    }),
  )

  it.effect("are granted for some things alone", () =>
    Effect.gen(function* () {
      const { account: tokens, api } = yield* begin
      const account = { ...tokens, unit: "image" }
      const json = { ...account, kind: "promotional", amount: 50, scope: ["images"] }
      const grant = yield* api.expect(201, "POST", "/v1/credit_grants", { json })
      assert.deepInclude(grant.body, { scope: ["images"], available: 50 })
      const balanceOf = (more: string) =>
        Effect.map(
          api.expect(200, "GET", `/v1/credit_balance?customer_id=${account.customer_id}&unit=image${more}`),
          ({ body }) => body,
        )
      assert.deepInclude(yield* balanceOf(""), { purpose: null, available: 0, scoped: 50 })
      assert.deepInclude(yield* balanceOf("&purpose=images"), { purpose: "images", available: 50, scoped: 0 })
      const use = { ...account, amount: 20, purpose: "images" }
      yield* api.expect(409, "POST", "/v1/credit_consumptions", { json: { ...account, amount: 20 } })
      const used = yield* api.expect(201, "POST", "/v1/credit_consumptions", { json: use })
      assert.deepInclude(used.body, { purpose: "images", balance: { available: 30, held: 0, debt: 0 } })
      const hold = yield* api.expect(201, "POST", "/v1/holds", { json: use })
      assert.deepInclude(hold.body, { purpose: "images" })
      const entries = yield* api.expect(200, "GET", `/v1/credit_entries?grant_id=${grant.id}&limit=1`)
      assert.deepInclude(entries.at("data", 0), { purpose: "images", available: 0, scoped: -20, held: 20 })
      const wrong = yield* api.expect(400, "POST", "/v1/credit_grants", { json: { ...json, scope: [] } })
      assert.include(String(wrong.at("message")), "must be 1 to 20 keys of charges or features")
    }),
  )

  it.effect("are held, extended, committed and released", () =>
    Effect.gen(function* () {
      const { account, amounts, api } = yield* begin
      const ask = { ...account, amount: 40, ttl_seconds: 60, idempotency_key: "stream 1" }
      const hold = yield* api.expect(201, "POST", "/v1/holds", { json: ask })
      assert.deepStrictEqual(hold.body, {
        object: "hold",
        id: hold.id,
        ...account,
        amount: 40,
        purpose: null,
        status: "open",
        committed: null,
        is_late: false,
        expires_at: "2026-11-21T09:31:00.000Z",
        settled_at: null,
        idempotency_key: "stream 1",
        livemode: false,
        created_at: ApiServer.NOW,
      })
      assert.deepInclude(yield* amounts, { available: 60, held: 40 })
      const extended = yield* api.expect(200, "POST", `/v1/holds/${hold.id}/extend`, { json: {} })
      assert.strictEqual(extended.at("expires_at"), "2026-11-21T09:45:00.000Z")
      const json = { amount: 25 }
      const committed = yield* api.expect(200, "POST", `/v1/holds/${hold.id}/commit`, { json })
      assert.deepInclude(committed.body, { status: "committed", committed: 25, settled_at: ApiServer.NOW })
      const read = (yield* api.expect(200, "GET", `/v1/holds/${hold.id}`)).body as object
      assert.deepStrictEqual({ ...read, token_usage: null }, committed.body)
      assert.deepInclude(yield* amounts, { available: 75, held: 0 })
      const second = yield* api.expect(201, "POST", "/v1/holds", { json: { ...account, amount: 75 } })
      const released = yield* api.expect(200, "POST", `/v1/holds/${second.id}/release`)
      assert.deepInclude(released.body, { status: "released" })
      const settled = yield* api.expect(409, "POST", `/v1/holds/${second.id}/commit`, { json })
      assert.strictEqual(settled.at("message"), `${second.id}: commit is not possible: it is released`)
      const third = yield* api.expect(201, "POST", "/v1/holds", { json: { ...account, amount: 75 } })
      const over = { amount: 76, overdraft: "refuse" }
      yield* api.expect(409, "POST", `/v1/holds/${third.id}/commit`, { json: over })
      yield* TestClock.adjust("15 minutes")
      const late = yield* api.expect(200, "POST", `/v1/holds/${third.id}/commit`, { json: { amount: 76 } })
      assert.deepInclude(late.body, { status: "committed", committed: 76, is_late: true })
      assert.deepInclude(yield* amounts, { available: 0, held: 0, debt: 1 })
    }),
  )

  it.effect("are refused for input that breaks a rule", () =>
    Effect.gen(function* () {
      const { account, api } = yield* begin
      const wrong: ReadonlyArray<readonly [string, object, string]> = [
        ["/v1/credit_grants", { kind: "gift", amount: 1 }, "kind must be"],
        ["/v1/credit_grants", { kind: "paid", amount: 0 }, "amount must be an integer from 1 to 10^30"],
        ["/v1/credit_grants", { kind: "paid", amount: 1, unit: "Token" }, "unit must be an ISO 4217"],
        ["/v1/credit_grants", { kind: "paid", amount: 1, unit: "XXX" }, "unit must be an ISO 4217"],
        ["/v1/credit_grants", { kind: "paid", amount: 1, priority: 101 }, "priority must be an integer"],
        [
          "/v1/credit_grants",
          { kind: "paid", amount: 1, expires_at: ApiServer.NOW },
          "expires_at must be in the future",
        ],
        ["/v1/credit_consumptions", { amount: 0.5 }, "amount must be an integer from 1 to 10^30"],
        ["/v1/holds", { amount: 1, ttl_seconds: 604_801 }, "ttl_seconds must be an integer"],
      ]
      for (const [path, json, message] of wrong) {
        const refused = yield* api.expect(400, "POST", path, { json: { ...account, ...json } })
        assert.include(String(refused.at("message")), message)
      }
      const unknown = { ...account, customer_id: ApiServer.UNKNOWN.customer, amount: 1 }
      for (const [path, json] of [
        ["/v1/credit_grants", { ...unknown, kind: "paid" }],
        ["/v1/credit_consumptions", unknown],
        ["/v1/holds", unknown],
      ] as const) {
        yield* api.expect(404, "POST", path, { json })
      }
      yield* api.expect(404, "GET", `/v1/credit_balance?customer_id=${unknown.customer_id}&unit=token`)
    }),
  )
})
