/**
 * Every test checks, when its server stops, that no secret was sent or logged (`ApiServer.start`). Here are the
 * ways in which one could get there.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"
import * as Faults from "../Faults.ts"

describe("API keys", () => {
  it.effect("are neither echoed nor logged, wherever a caller puts them by mistake", () =>
    Effect.gen(function* () {
      const { faults, storage } = Faults.make()
      const api = yield* ApiServer.start({ storage, billing: { keys: { cacheMillis: 0 } } })
      const secret = (yield* api.issue()).secret
      const json = { name: "Ada", email: "ada@example.com" }
      const send = Effect.gen(function* () {
        yield* api.call("GET", `/v1/customers/${secret}`)
        yield* api.call("GET", `/v1/${secret}`)
        yield* api.call("GET", `/${secret}`)
        yield* api.call("GET", `/v1/customers?${secret}=1`)
        yield* api.call("GET", `/v1/customers?email=${secret}`)
        yield* api.call("GET", `/v1/customers?starting_after=${secret}`)
        yield* api.call("GET", `/v1/usage?customer_id=${secret}`)
        yield* api.call("POST", "/v1/customers", { json: { ...json, [secret]: 1 } })
        yield* api.call("POST", "/v1/customers", { json: { ...json, metadata: { [secret]: 1 } } })
        yield* api.call("POST", "/v1/customers", { body: `{"${secret}": 1, "${secret}": 2}` })
        yield* api.call("DELETE", `/v1/customers/${secret}`)
        yield* api.call("POST", "/v1/customers", {
          json: {},
          headers: { "idempotency-key": `${secret} ${secret}` },
        })
        yield* api.call("POST", "/v1/usage", {
          json: { customer_id: secret, product_id: "api", unit: "call", quantity: 1 },
        })
        yield* api.call("GET", "/v1/customers", { key: `${secret}x` })
        yield* api.call("GET", "/v1/customers", { key: secret.slice(0, -1) })
      })
      yield* send
      for (const fault of [Faults.unavailable, Faults.defect]) {
        faults.data = fault
        faults.keys = fault
        yield* send
        faults.keys = Effect.void
        yield* send
      }
      assert.isAbove(api.logs.length, 10)
      assert.include(api.logs.join("\n"), "/v1/customers/sk_test_…")
    }),
  )
})
