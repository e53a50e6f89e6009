import { ApiKeys, ApiKeySecret } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import { securedOperations } from "../Operations.ts"

const UNAUTHORIZED = {
  error: "unauthorized",
  message: "a valid API key is required: Authorization: Bearer <API key>",
}

describe("authentication", () => {
  it.effect("gives the same answer for a missing, malformed, unknown, revoked or expired key", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const keys = Context.get(api.services, ApiKeys)
      const revoked = yield* api.issue()
      yield* keys.revoke(revoked.id).pipe(api.as({}))
      const expired = yield* api.issue({ expiresAt: DateTime.makeUnsafe("2026-11-21T09:31:00Z") })
      const rolled = yield* api.issue()
      yield* keys.roll(rolled.id, { graceMillis: 0 }).pipe(api.as({}))
      yield* api.expect(200, "GET", "/v1/customers", { key: expired.secret })
      yield* TestClock.adjust("1 minute")

      const key = api.testKey
      const other = key.endsWith("0") ? "1" : "0"
      const unknown = Redacted.value(ApiKeySecret.generate("test"))
      const headers: ReadonlyArray<Record<string, string>> = [
        {},
        { authorization: "" },
        { authorization: "Bearer" },
        { authorization: "Bearer " },
        { authorization: key },
        { authorization: `Basic ${btoa(`${key}:`)}` },
        { authorization: `Token ${key}` },
        { authorization: `Bearer ${key} x` },
        { authorization: `Bearer ${key}, Bearer ${key}` },
        { authorization: `Bearer "${key}"` },
        { authorization: `Bearer ${key.slice(0, -1)}` },
        { authorization: `Bearer ${key}0` },
        { authorization: `Bearer ${key.slice(0, -1)}${other}` },
        { authorization: `Bearer ${key.replace("test", "live")}` },
        { authorization: `Bearer ${key.toUpperCase()}` },
        { authorization: `Bearer ${"x".repeat(4000)}` },
        { authorization: `Bearer ${unknown}` },
        { authorization: `Bearer ${revoked.secret}` },
        { authorization: `Bearer ${expired.secret}` },
        { authorization: `Bearer ${rolled.secret}` },
        { "x-api-key": key },
      ]
      for (const each of headers) {
        const refused = yield* api.expect(401, "GET", "/v1/customers", { key: null, headers: each })
        assert.deepStrictEqual(refused.body, UNAUTHORIZED)
        assert.strictEqual(refused.headers["www-authenticate"], "Bearer")
        const { date: _, "request-id": __, ...rest } = refused.headers
        const first = yield* api.expect(401, "GET", "/v1/customers", { key: null })
        const { date: ___, "request-id": ____, ...expected } = first.headers
        assert.deepStrictEqual(rest, expected)
      }
      // A key in the query is ignored, because queries end up in logs.
      yield* api.expect(401, "GET", `/v1/customers?api_key=${unknown}`, { key: null })
    }),
  )

  it.effect("accepts the scheme in any case, and spaces around the key", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      for (const scheme of ["Bearer ", "bearer ", "BEARER   "]) {
        const headers = { authorization: `${scheme}${api.testKey}` }
        yield* api.expect(200, "GET", "/v1/customers", { key: null, headers })
      }
    }),
  )

  it.effect("is checked before everything else under /v1: path, method, query, body, size and type", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const requests = [
        ["GET", "/v1"],
        ["GET", "/v1/"],
        ["GET", "/v1/nowhere"],
        ["GET", "/v1/%zz"],
        ["GET", "/v1/../livez"],
        ["PUT", "/v1/customers"],
        ["OPTIONS", "/v1/customers"],
        ["GET", "/v1/customers?limit=0&limit=1&%zz"],
        ["GET", `/v1/customers?${"x".repeat(9000)}`],
      ] as const
      for (const [method, path] of requests) {
        const refused = yield* api.expect(401, method, path, { key: null })
        assert.deepStrictEqual(refused.body, UNAUTHORIZED)
      }
      const bodies: ReadonlyArray<ApiServer.CallOptions> = [
        { body: "{" },
        { body: "\0" },
        { body: Buffer.alloc(2 * 1024 * 1024) },
        { chunks: [Buffer.alloc(2 * 1024 * 1024)] },
        { body: "x", headers: { "content-type": "text/plain" } },
        { json: {}, headers: { "idempotency-key": "é" } },
      ]
      for (const each of bodies) {
        const refused = yield* api.expect(401, "POST", "/v1/customers", { ...each, key: null })
        assert.deepStrictEqual(refused.body, UNAUTHORIZED)
      }
    }),
  )

  it.effect("is required by every operation", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      for (const { method, path } of securedOperations) {
        yield* api.expect(401, method, path.replace(":id", "x"), { key: null })
      }
    }),
  )

  it.effect("can't be bypassed by another spelling of /v1", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const paths = [
        "/%761/customers",
        "/v%31/customers",
        "//v1/customers",
        "/V1/customers",
        "/x/../v1/customers",
      ]
      for (const path of [...paths, "/v1%2Fcustomers", "/./v1/customers", "/v1;/customers"]) {
        const answer = yield* api.call("GET", path, { key: null })
        assert.include([401, 404], answer.status, path)
      }
    }),
  )

  it.effect("uses the mode of the key", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const test = yield* api.newCustomer()
      const live = yield* api.newCustomer({}, { key: api.liveKey })
      assert.deepStrictEqual((yield* api.expect(200, "GET", "/v1/customers")).ids, [test])
      assert.deepStrictEqual((yield* api.expect(200, "GET", "/v1/customers", { key: api.liveKey })).ids, [
        live,
      ])
    }),
  )

  it.effect("accepts a rolled key until its grace time ends", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ billing: { keys: { cacheMillis: 0 } } })
      const keys = Context.get(api.services, ApiKeys)
      const old = yield* api.issue()
      const { secret } = yield* keys.roll(old.id, { graceMillis: 60_000 }).pipe(api.as({}))
      const key = Redacted.value(secret)
      yield* TestClock.adjust("59 seconds")
      yield* api.expect(200, "GET", "/v1/customers", { key: old.secret })
      yield* TestClock.adjust("1 second")
      yield* api.expect(401, "GET", "/v1/customers", { key: old.secret })
      yield* api.expect(200, "GET", "/v1/customers", { key })
    }),
  )
})
