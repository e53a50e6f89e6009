import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { planExamples } from "../../src/api/PlanExamples.ts"
import * as ApiServer from "../ApiServer.ts"

const plan = (price: string, more: object = {}) => ({
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: price } },
    {
      key: "calls",
      model: "graduated",
      meter: "api_calls",
      tiers: [{ up_to: "1000", price: { EUR: "0.01" } }, { price: { EUR: "0.002" } }],
    },
  ],
  ...more,
})

const push = (api: ApiServer.Api, ...plans: ReadonlyArray<object>) =>
  api.expect(200, "POST", "/v1/catalog/push", { json: { plans } })

describe("plans", () => {
  it.effect("are pushed, read, and pushed again", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const created = yield* push(api, plan("20.00"))
      assert.deepStrictEqual(created.body, {
        object: "list",
        data: [
          {
            object: "plan_change",
            key: "pro",
            status: "created",
            version: 1,
            previous_version: null,
            changes: [],
          },
        ],
        has_more: false,
      })
      const got = yield* api.expect(200, "GET", "/v1/plans/pro")
      const { key: _, name: __, ...terms } = plan("20.00")
      assert.deepStrictEqual(got.at("terms"), terms)
      assert.deepStrictEqual([got.at("object"), got.at("version"), got.at("livemode")], ["plan", 1, false])
      assert.deepStrictEqual((yield* api.expect(200, "GET", "/v1/plans")).at("data"), [got.body])

      yield* TestClock.adjust("1 minute")
      const changed = yield* push(api, plan("25.00"))
      assert.deepStrictEqual(changed.at("data", 0, "changes"), [
        { path: "charges.base.price.EUR", from: "20.00", to: "25.00" },
      ])
      const versions = yield* api.expect(200, "GET", "/v1/plans/pro/versions")
      const [second, first] = versions.at("data") as ReadonlyArray<Record<string, unknown>>
      assert.deepInclude(second, { object: "plan_version", plan_key: "pro", version: 2 })
      assert.deepInclude(first, { version: 1, terms, hash: got.at("hash"), created_at: got.at("created_at") })
      const read = yield* api.expect(200, "GET", "/v1/plans/pro/versions/1")
      assert.deepStrictEqual(read.body, first)
      const page = `/v1/plans/pro/versions?limit=1&starting_after=${String(second?.["id"])}`
      assert.deepStrictEqual((yield* api.expect(200, "GET", page)).at("data"), [first])
    }),
  )

  it.effect("are read by any key that a plan may have", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      for (const key of ["push", "diff", "preview", "versions", "constructor"]) {
        yield* push(api, plan("1", { key }))
        assert.strictEqual((yield* api.expect(200, "GET", `/v1/plans/${key}`)).at("key"), key)
      }
    }),
  )

  it.effect("that are wrong are refused with all their problems, and none is stored", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const charges = [
        {
          key: "calls",
          model: "graduated",
          meter: "api_calls",
          where: { regionCode: [] },
          tiers: [{ up_to: "1000" }, { up_to: "2000" }, { up_to: "1000" }, {}],
        },
      ]
      const json = { plans: [plan("1", { key: "free" }), plan("1", { charges, name: 5 })] }
      for (const path of ["/v1/catalog/push", "/v1/catalog/diff"]) {
        const refused = yield* api.expect(400, "POST", path, { json })
        assert.deepStrictEqual(refused.body, {
          error: "invalid_request",
          message: "plans.pro.name must be a text of 1 to 200 characters (and 2 more)",
          problems: [
            { field: "plans.pro.name", problem: "must be a text of 1 to 200 characters" },
            { field: "plans.pro.charges.calls.tiers[2].up_to", problem: "must be greater than 2000" },
            {
              field: "plans.pro.charges.calls.where.regionCode",
              problem: "must be a list of 1 to 100 values",
            },
          ],
        })
      }
      assert.deepStrictEqual((yield* api.expect(200, "GET", "/v1/plans")).at("data"), [])
      for (const [body, message] of [
        [{}, "plans is required, unless there are rate cards"],
        [{ plans: [] }, "plans must be a list of 1 to 50 plans"],
        [{ plans: {} }, "plans must be array"],
        [{ plans: [null] }, "plans[0] must be an object"],
        [{ plans: [plan("1")], dry_run: true }, "dry_run is not a known field"],
      ] as const) {
        const refused = yield* api.expect(400, "POST", "/v1/catalog/push", { json: body })
        assert.strictEqual(refused.message, message)
      }
      const long = yield* api.expect(400, "POST", "/v1/catalog/push", {
        json: { plans: [{ ["x".repeat(100_000)]: 1, charges: [{ key: "k".repeat(100_000) }] }] },
      })
      assert.isBelow(long.text.length, 5_000)
    }),
  )

  it.effect("are compared without being stored", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* push(api, plan("20.00"))
      const json = { plans: [plan("25.00"), plan("1", { key: "free" })] }
      const { secret } = yield* api.issue({ scopes: ["catalog:read"] })
      const told = yield* api.expect(200, "POST", "/v1/catalog/diff", { json, key: secret })
      assert.deepStrictEqual(
        (told.at("data") as ReadonlyArray<{ readonly status: string }>).map(({ status }) => status),
        ["changed", "created"],
      )
      yield* api.expect(403, "POST", "/v1/catalog/push", { json, key: secret })
      assert.strictEqual((yield* api.expect(200, "GET", "/v1/plans/pro")).at("version"), 1)
      yield* api.expect(404, "GET", "/v1/plans/free")
      assert.deepStrictEqual((yield* push(api, ...json.plans)).body, told.body)
    }),
  )

  it.effect("are previewed with exact amounts and every step", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* push(api, plan("20.00"))
      const json = { plan: "pro", quantities: { calls: "2000" } }
      const preview = yield* api.expect(200, "POST", "/v1/catalog/preview", { json })
      assert.deepStrictEqual(
        [preview.at("lines", 1, "amount"), preview.at("lines", 1, "exact")],
        [1200, "12"],
      )
      assert.deepStrictEqual([preview.at("version"), preview.at("total")], [1, 3200])
      const { request, response } = planExamples.previewPlan
      const example = yield* api.expect(200, "POST", "/v1/catalog/preview", { json: request })
      assert.deepStrictEqual(example.body, response)
      const huge = { plan: "pro", quantities: { calls: "9".repeat(40) } }
      const large = yield* api.expect(200, "POST", "/v1/catalog/preview", { json: huge })
      // (10^40 − 1 − 1,000) × 0.002 + 10.00 + 20.00, rounded half away from zero to cents.
      assert.include(large.text, `"total":${10n ** 40n / 5n + 2800n}`)
      const tiny = { plan: "pro", quantities: { calls: Number.MIN_VALUE } }
      const small = yield* api.expect(200, "POST", "/v1/catalog/preview", { json: tiny })
      assert.deepStrictEqual([small.at("lines", 1, "amount"), small.at("total")], [0, 2000])
      const given = yield* api.expect(200, "POST", "/v1/catalog/preview", { json: { plan: plan("5.00") } })
      assert.deepStrictEqual([given.at("version"), given.at("total")], [null, 500])
      const unknown = yield* api.expect(404, "POST", "/v1/catalog/preview", { json: { plan: "free" } })
      assert.strictEqual(unknown.message, "plan: no plan has the key free")
      const wrong = { plan: "pro", currency: "USD", quantities: { callz: 1 } }
      const refused = yield* api.expect(400, "POST", "/v1/catalog/preview", { json: wrong })
      assert.deepStrictEqual(refused.at("problems"), [
        { field: "currency", problem: "must be a currency of the plan: EUR" },
        { field: "quantities.callz", problem: "is not a charge of the plan" },
      ])
    }),
  )

  it.effect("that don't exist are not found", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* push(api, plan("1"))
      for (const path of ["free", "free/versions", "free/versions/1", "a%00b"]) {
        const refused = yield* api.expect(404, "GET", `/v1/plans/${path}`)
        assert.match(refused.message, /^no plan has the key /)
      }
      for (const version of ["0", "2", "01", "x", "1.0", "99999999999"]) {
        yield* api.expect(404, "GET", `/v1/plans/pro/versions/${version}`)
      }
      // There is no way to change or remove a version.
      for (const path of ["/v1/plans/pro", "/v1/plans/pro/versions/1"]) {
        for (const method of ["PUT", "PATCH", "DELETE", "POST"]) yield* api.expect(405, method, path)
      }
    }),
  )
})
