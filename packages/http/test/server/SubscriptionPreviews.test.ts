import { BillingRuns } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

const planOf = (price: string) => ({
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: price } },
    { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } },
  ],
})

/** A server with a plan, a customer, and what orders it. */
const begin = Effect.fnUntraced(function* () {
  const api = yield* ApiServer.start()
  yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [planOf("20.00")] } })
  const customer = yield* api.newCustomer()
  const ordered = { customer_id: customer, plan: "pro", quantities: { seats: 3 } }
  const runDue = api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
  return { api, ordered, runDue }
})

describe("previews of subscriptions", () => {
  it.effect("bill what the creation and the commands then bill, and store nothing", () =>
    Effect.gen(function* () {
      const { api, ordered } = yield* begin()
      const preview = yield* api.expect(200, "POST", "/v1/subscriptions/preview", { json: ordered })
      assert.strictEqual(preview.at("object"), "subscription_preview")
      assert.strictEqual(preview.at("subscription", "phase"), "active")
      assert.strictEqual(preview.at("invoices", 0, "total"), 3_500)
      assert.strictEqual(preview.at("next_invoice", "total"), 3_500)
      for (const path of ["/v1/subscriptions", "/v1/invoices", "/v1/events"]) {
        assert.deepStrictEqual((yield* api.expect(200, "GET", path)).ids, [])
      }
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      const path = `/v1/subscriptions/${id}/preview`
      const more = { action: "change", quantities: { seats: 4 }, at: "now" }
      const changed = yield* api.expect(200, "POST", path, { json: more })
      assert.deepStrictEqual(changed.at("subscription", "quantities"), { seats: "4" })
      assert.strictEqual(changed.at("next_invoice", "total"), 4_000)
      const paused = yield* api.expect(200, "POST", path, { json: { action: "pause", credit: "none" } })
      assert.deepStrictEqual(
        [paused.at("subscription", "phase"), paused.at("next_invoice")],
        ["paused", null],
      )
      const stored = yield* api.expect(200, "GET", `/v1/subscriptions/${id}`)
      assert.deepStrictEqual([stored.at("phase"), stored.at("quantities")], ["active", { seats: "3" }])
    }),
  )

  it.effect("fail as the call does, and name what it does not take", () =>
    Effect.gen(function* () {
      const { api, ordered } = yield* begin()
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      const path = `/v1/subscriptions/${id}/preview`
      const refused = yield* api.expect(409, "POST", path, { json: { action: "uncancel" } })
      assert.strictEqual(refused.at("message"), `${id}: uncancel is not possible: no end is set`)
      for (const [json, message] of [
        [{}, "action is required"],
        [{ action: "cancel" }, "at is required"],
        [{ action: "pause", bill: "now" }, "bill is not a known field"],
        [{ action: "change", resume_at: ApiServer.NOW }, "resume_at is not a known field"],
      ] as const) {
        assert.strictEqual((yield* api.expect(400, "POST", path, { json })).at("message"), message)
      }
      const unknown = yield* api.expect(404, "POST", "/v1/subscriptions/sub_1/preview", {
        json: { action: "uncancel" },
      })
      assert.strictEqual(unknown.at("error"), "not_found")
    }),
  )
})

describe("a customer with a subscription", () => {
  it.effect("can't be erased until it has ended, and the answer says so", () =>
    Effect.gen(function* () {
      const { api, ordered } = yield* begin()
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      const path = `/v1/customers/${ordered.customer_id}`
      const refused = yield* api.expect(409, "DELETE", path)
      assert.deepStrictEqual(refused.body, {
        error: "conflict",
        message: `the customer ${ordered.customer_id} has a subscription that has not ended: cancel it first`,
      })
      yield* api.expect(200, "POST", `/v1/subscriptions/${id}/cancel`, { json: { at: "now" } })
      yield* api.expect(200, "DELETE", path)
    }),
  )
})

describe("plan migrations", () => {
  it.effect("are created, run in the background, listed and deleted", () =>
    Effect.gen(function* () {
      const { api, ordered, runDue } = yield* begin()
      const { id: subscription } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [planOf("41.00")] } })
      const json = { plan: "pro", from_version: 1, at: "now" }
      const dry = yield* api.expect(201, "POST", "/v1/plan_migrations", { json: { ...json, dry_run: true } })
      const begun = yield* api.expect(201, "POST", "/v1/plan_migrations", { json })
      assert.deepStrictEqual(
        [begun.at("object"), begun.at("status"), begun.at("to_version")],
        ["plan_migration", "running", 2],
      )
      yield* runDue
      const done = yield* api.expect(200, "GET", `/v1/plan_migrations/${begun.id}`)
      assert.deepStrictEqual(done.at("counts"), { migrated: 1, unchanged: 0, failed: 0 })
      assert.strictEqual(done.at("completed_at"), ApiServer.NOW)
      const rehearsed = yield* api.expect(200, "GET", `/v1/plan_migrations/${dry.id}`)
      assert.deepStrictEqual(rehearsed.at("amounts"), [{ currency: "EUR", now: "2100", next: "2100" }])
      const moved = yield* api.expect(200, "GET", `/v1/subscriptions/${subscription}`)
      assert.deepStrictEqual(moved.at("plan"), { key: "pro", version: 2 })
      const { ids } = yield* api.expect(200, "GET", "/v1/plan_migrations?status=completed")
      assert.deepStrictEqual(ids, [begun.id, dry.id])
      yield* api.expect(200, "DELETE", `/v1/plan_migrations/${dry.id}`)
      yield* api.expect(404, "GET", `/v1/plan_migrations/${dry.id}`)
      const wrong = yield* api.expect(404, "POST", "/v1/plan_migrations", {
        json: { ...json, to_version: 9 },
      })
      assert.strictEqual(wrong.at("message"), "to_version: the plan pro has no version 9")
    }),
  )
})
