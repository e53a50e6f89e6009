/**
 * What a key may not do although its scopes allow it: requests from another network, and credits beyond its limits.
 */
import { ApiKeys } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"

type Api = Effect.Success<ReturnType<typeof ApiServer.start>>
type Issue = Parameters<ApiKeys["Service"]["issue"]>[0]

/** Issues a key, and gives its secret. */
const issue = (api: Api, input: Omit<Issue, "name">) =>
  api
    .as({})(Effect.flatMap(ApiKeys, (keys) => Effect.orDie(keys.issue({ name: "limited", ...input }))))
    .pipe(Effect.map(({ secret }) => Redacted.value(secret)))

describe("a key with networks", () => {
  it.effect("is refused from everywhere else, and the refusal says no more than for an unknown key", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const here = yield* issue(api, { networks: ["127.0.0.0/8", "::1/128"] })
      const elsewhere = yield* issue(api, { networks: ["203.0.113.0/24"] })
      yield* api.expect(200, "GET", "/v1/customers", { key: here })
      const refused = yield* api.expect(401, "GET", "/v1/customers", { key: elsewhere })
      // A client can't choose its address.
      const headers = { "x-forwarded-for": "203.0.113.7" }
      const forged = yield* api.expect(401, "GET", "/v1/customers", { key: elsewhere, headers })
      assert.deepStrictEqual(forged.body, refused.body)
    }),
  )

  it.effect("knows the client behind proxies of the host, and not what the client wrote", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({
        server: { trustedProxies: ["127.0.0.0/8", "::1/128", "10.0.0.0/8"] },
      })
      const key = yield* issue(api, { networks: ["203.0.113.0/24"] })
      const from = (text: string) => ({ key, headers: { "x-forwarded-for": text } })
      yield* api.expect(200, "GET", "/v1/customers", from("203.0.113.7"))
      yield* api.expect(200, "GET", "/v1/customers", from("198.51.100.1, 203.0.113.7, 10.0.0.2"))
      yield* api.expect(401, "GET", "/v1/customers", from("203.0.113.7, 198.51.100.1"))
      yield* api.expect(401, "GET", "/v1/customers", from("203.0.113.7, nonsense"))
      yield* api.expect(401, "GET", "/v1/customers", { key })
      // The audit log has the address of the client, too.
      const json = { name: "Ada", email: "ada@example.com" }
      const made = yield* api.expect(201, "POST", "/v1/customers", { ...from("203.0.113.9"), json })
      const log = yield* api.expect(200, "GET", "/v1/audit_log", { query: { object_id: made.id } })
      assert.strictEqual((log.at("data", 0) as { readonly ip: string }).ip, "203.0.113.9")
    }),
  )
})

describe("a key of the role support", () => {
  it.effect("grants promotional credits up to its limit in 24 hours, whoever granted the rest", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const key = yield* issue(api, { role: "support", creditLimits: { token: 100n } })
      const json = { name: "Ada", email: "ada@example.com" }
      const customer = yield* api.expect(201, "POST", "/v1/customers", { json })
      const grant = (amount: number, change: object = {}) => ({
        json: { customer_id: customer.id, unit: "token", kind: "promotional", amount, ...change },
      })
      const path = "/v1/credit_grants"
      yield* api.expect(201, "POST", path, grant(30))
      yield* api.expect(201, "POST", path, { ...grant(70), key })
      const beyond = yield* api.expect(403, "POST", path, { ...grant(1), key })
      assert.include(beyond.message, "100 token in 24 hours")
      const otherUnit = yield* api.expect(403, "POST", path, { ...grant(1, { unit: "call" }), key })
      assert.include(otherUnit.message, "may not grant call")
      const paid = yield* api.expect(403, "POST", path, { ...grant(1, { kind: "paid" }), key })
      assert.include(paid.message, "promotional")
      const balance = yield* api.expect(200, "GET", "/v1/credit_balance", {
        query: { customer_id: customer.id, unit: "token" },
      })
      assert.strictEqual((balance.body as { readonly available: number }).available, 100)
      yield* TestClock.adjust("24 hours")
      yield* api.expect(201, "POST", path, { ...grant(100), key })
      yield* api.expect(403, "POST", "/v1/customers", { json, key })
      yield* api.expect(200, "GET", "/v1/customers", { key })
    }),
  )

  it.effect("counts the 24 hours in the time of the customer, which may be that of a test clock", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const key = yield* issue(api, { role: "support", creditLimits: { token: 100n } })
      const start = (name: string, now: string) =>
        api.expect(201, "POST", "/v1/test_clocks", { json: { name, now } })
      const clocks = [
        yield* start("past", "2026-01-01T00:00:00.000Z"),
        yield* start("future", "2027-01-01T00:00:00.000Z"),
      ]
      for (const { id } of clocks) {
        const json = { name: "Ada", email: "ada@example.com", test_clock_id: id }
        const customer = yield* api.expect(201, "POST", "/v1/customers", { json })
        const grant = (amount: number) =>
          ({ json: { customer_id: customer.id, unit: "token", kind: "promotional", amount }, key }) as const
        yield* api.expect(201, "POST", "/v1/credit_grants", grant(100))
        yield* api.expect(403, "POST", "/v1/credit_grants", grant(1))
      }
    }),
  )

  it.effect("gets the first grant for a repeat, although others have granted more since", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const key = yield* issue(api, { role: "support", creditLimits: { token: 100n } })
      const json = { name: "Ada", email: "ada@example.com" }
      const customer = yield* api.expect(201, "POST", "/v1/customers", { json })
      const grant = (amount: number, change: object = {}) => ({
        json: { customer_id: customer.id, unit: "token", kind: "promotional", amount, ...change },
      })
      const path = "/v1/credit_grants"
      const first = { ...grant(60, { idempotency_key: "ticket-1" }), key }
      const made = yield* api.expect(201, "POST", path, first)
      yield* api.expect(201, "POST", path, grant(60))
      const again = yield* api.expect(201, "POST", path, first)
      assert.deepStrictEqual(again.body, made.body)
      // What was refused was undone, so its key is free.
      const other = grant(1, { idempotency_key: "ticket-2" })
      yield* api.expect(403, "POST", path, { ...other, key })
      yield* api.expect(403, "POST", path, { ...other, key })
      const grants = yield* api.expect(200, "GET", path, { query: { customer_id: customer.id } })
      assert.lengthOf(grants.ids, 2)
    }),
  )
})
