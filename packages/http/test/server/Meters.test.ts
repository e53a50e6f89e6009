import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

const TOKENS = { key: "tokens", product_id: "chat", unit: "token", dimensions: ["model", "kind"] }

/** Records tokens by model and kind, and gives the customer. */
const recordTokens = Effect.fnUntraced(function* (api: ApiServer.Api) {
  const customer = yield* api.newCustomer()
  const of = (quantity: number, dimensions: Readonly<Record<string, string>>, timestamp: string) =>
    api.record(customer, { product_id: "chat", unit: "token", quantity, dimensions, timestamp })
  yield* of(900, { model: "opus", kind: "input" }, "2026-11-01T10:00:00Z")
  yield* of(100, { model: "opus", kind: "output" }, "2026-11-01T11:00:00Z")
  yield* of(50, { model: "haiku:mini", kind: "input" }, "2026-11-03T10:00:00Z")
  yield* of(7, {}, "2026-11-03T11:00:00Z")
  return customer
})

const group = (dimensions: object, total: number, count = 1) => ({
  dimensions,
  total_quantity: total,
  denominator: 1,
  record_count: count,
})

describe("meters", () => {
  it.effect("can be created, read, listed, changed, built and archived", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* recordTokens(api)
      const created = yield* api.expect(201, "POST", "/v1/meters", { json: TOKENS })
      assert.deepInclude(created.body, { object: "meter", ...TOKENS, aggregation: "sum", counted: null })
      const path = `/v1/meters/${created.id}`
      const ready = yield* api.expect(200, "POST", `${path}/rebuild`)
      assert.deepInclude(ready.body, { status: "ready", rebuild: null })
      assert.deepStrictEqual((yield* api.expect(200, "GET", path)).body, ready.body)
      const list = yield* api.expect(200, "GET", "/v1/meters", { query: { key: "tokens" } })
      assert.deepStrictEqual(list.at("data"), [ready.body])

      const taken = yield* api.expect(400, "POST", "/v1/meters", { json: { ...TOKENS, unit: "other" } })
      assert.strictEqual(
        taken.message,
        'key must be another one: "tokens" is the key of another meter, which may be archived',
      )

      const json = { aggregation: "unique_count", counted: "model", name: "Models" }
      yield* api.expect(200, "PATCH", path, { json })
      const changed = yield* api.expect(200, "POST", `${path}/rebuild`)
      assert.deepInclude(changed.body, { ...json, status: "ready", rebuild: null })
      const wrong = yield* api.expect(400, "PATCH", path, { json: { counted: "region" } })
      assert.strictEqual(wrong.message, "counted must be one of the meter's dimensions")

      const archived = yield* api.expect(200, "DELETE", path)
      assert.deepStrictEqual(archived.body, { object: "meter", id: created.id, deleted: true })
      assert.deepInclude((yield* api.expect(200, "GET", path)).body, { status: "archived" })
      yield* api.expect(200, "DELETE", path)
    }),
  )

  it.effect("filter and group summaries by dimensions", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* recordTokens(api)
      yield* api.expect(201, "POST", "/v1/meters", { json: TOKENS })
      const summary = (query: string) =>
        api.expect(200, "GET", `/v1/usage?customer_id=${customer}&meter=tokens${query}`)
      const all = yield* summary("")
      assert.deepInclude(all.body, {
        meter: "tokens",
        product_id: "chat",
        unit: "token",
        total_quantity: 1057,
        denominator: 1,
        record_count: 4,
      })
      assert.isUndefined(all.at("groups"))
      assert.strictEqual((yield* summary("&where=model:opus")).at("total_quantity"), 1000)
      assert.strictEqual((yield* summary("&where=model%3Aopus&where=kind:input")).at("total_quantity"), 900)
      const both = yield* summary("&where=model:opus&where=model:haiku:mini&group_by=kind")
      assert.strictEqual(both.at("total_quantity"), 1050)
      assert.deepStrictEqual(both.at("groups"), [
        group({ kind: "input" }, 950, 2),
        group({ kind: "output" }, 100),
      ])
      const two = yield* summary("&group_by=model&group_by=kind")
      assert.deepStrictEqual(two.at("groups"), [
        group({ model: null, kind: null }, 7),
        group({ model: "haiku:mini", kind: "input" }, 50),
        group({ model: "opus", kind: "input" }, 900),
        group({ model: "opus", kind: "output" }, 100),
      ])
    }),
  )

  it.effect("filter and group series, and filter records", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* recordTokens(api)
      yield* api.expect(201, "POST", "/v1/meters", { json: TOKENS })
      const dates = "start_date=2026-11-01&end_date=2026-11-03&window=day"
      const query = `customer_id=${customer}&meter=tokens&where=kind:input`
      const series = yield* api.expect(200, "GET", `/v1/usage/series?${query}&${dates}&group_by=model`)
      const points = series.at("data") as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(
        points.map(({ dimensions, quantity }) => [(dimensions as { model: string }).model, quantity]),
        [
          ["haiku:mini", 0],
          ["opus", 900],
          ["haiku:mini", 0],
          ["opus", 0],
          ["haiku:mini", 50],
          ["opus", 0],
        ],
      )
      const records = yield* api.expect(200, "GET", `/v1/usage/records?${query}`)
      const found = records.at("data") as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(
        found.map(({ quantity }) => quantity),
        [50, 900],
      )
    }),
  )

  it.effect("refuse wrong queries, and name the parameter", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* recordTokens(api)
      yield* api.expect(201, "POST", "/v1/meters", { json: TOKENS })
      const cases = [
        ["meter=nothing", "meter is not the key of a meter"],
        ["meter=tokens&product_id=chat", "product_id must not be given with a meter"],
        ["meter=tokens&unit=token", "unit must not be given with a meter"],
        ["where=model:opus", "where needs a meter"],
        ["group_by=model", "group_by needs a meter"],
        ["meter=tokens&where=modelKind:a", "where.modelKind is not a dimension of the meter tokens"],
        ["meter=tokens&where=__proto__:a", "where.__proto__ is not a dimension of the meter tokens"],
        ["meter=tokens&where=opus", "where[0] must be a dimension and a value, such as model:opus"],
        ["meter=tokens&where=model:", "where[0] must be a dimension and a value, such as model:opus"],
        ["meter=tokens&group_by=region", "group_by is not a dimension of the meter tokens"],
        ["meter=tokens&group_by=kind&group_by=region", "group_by[1] is not a dimension of the meter tokens"],
        ["meter=tokens&group_by=kind&group_by=kind", "group_by must not name a dimension twice"],
        ["meter=tokens&meter=tokens", "meter is given twice"],
        ["meter=tokens&where=model:opus&start_dat=2026-11-01", "start_dat is not a known field"],
      ] as const
      for (const [query, message] of cases) {
        const refused = yield* api.expect(400, "GET", `/v1/usage?customer_id=${customer}&${query}`)
        assert.isTrue(refused.message.startsWith(message), `${query}: ${refused.message}`)
      }
    }),
  )

  it.effect("refuse a record with too many combinations by the name of its dimension", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      yield* api.expect(201, "POST", "/v1/meters", { json: TOKENS })
      const of = (model: string) => ({
        customer_id: customer,
        product_id: "chat",
        unit: "token",
        quantity: 1,
        dimensions: { model, kind: "input" },
        timestamp: ApiServer.NOW,
      })
      const records = Array.from({ length: 1_000 }, (_, index) => of(`model ${index}`))
      yield* api.expect(200, "POST", "/v1/usage/batch", { json: { records } })
      const refused = yield* api.expect(400, "POST", "/v1/usage", { json: of("one more") })
      assert.match(
        refused.message,
        /^dimensions\.model has too many different values: the meter tokens would have more than 1000 combinations/,
      )
      const batch = { records: [of("model 1"), of("another")] }
      const none = yield* api.expect(400, "POST", "/v1/usage/batch", { json: batch })
      assert.match(none.message, /^records\[1\]\.dimensions\.model has too many different values/)
      const total = yield* api.expect(200, "GET", "/v1/usage", { query: { customer_id: customer } })
      assert.strictEqual(total.at("record_count"), 1_000)
    }),
  )

  it.effect("need the scopes of usage", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const reader = (yield* api.issue({ scopes: ["usage:read"] })).secret
      yield* api.expect(200, "GET", "/v1/meters", { key: reader })
      yield* api.expect(403, "POST", "/v1/meters", { key: reader, json: TOKENS })
      yield* api.expect(403, "POST", `/v1/meters/${ApiServer.UNKNOWN.meter}/rebuild`, { key: reader })
      const other = (yield* api.issue({ scopes: ["customers:read"] })).secret
      yield* api.expect(403, "GET", "/v1/meters", { key: other })
    }),
  )

  it.effect("are created once for a repeated request", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const headers = { "idempotency-key": "k" }
      const first = yield* api.expect(201, "POST", "/v1/meters", { json: TOKENS, headers })
      const again = yield* api.expect(201, "POST", "/v1/meters", { json: TOKENS, headers })
      assert.strictEqual(again.text, first.text)
    }),
  )
})
