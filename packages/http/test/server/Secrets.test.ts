/**
 * Every test checks that no secret was sent or logged when its server stops (`ApiServer.start`). These tests try ways in
 * which one could be.
 */
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Tracer } from "effect"
import * as ApiServer from "../ApiServer.ts"
import * as Faults from "../Faults.ts"
import * as Receivers from "../Receivers.ts"

describe("API keys", () => {
  it.effect("are not echoed or logged when a caller puts them in a wrong place", () =>
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
        yield* api.call("GET", `/v1/events/${secret}`)
        yield* api.call("GET", `/v1/events/stream?types=${secret}`)
        yield* api.call("GET", "/v1/events/stream", { headers: { "last-event-id": secret } })
        yield* api.call("POST", "/v1/events", { json: { type: secret, data: secret } })
        yield* api.call("POST", "/v1/events", { json: { type: "invoice.paid", data: { [secret]: secret } } })
        const url = `https://example.com/${secret}`
        yield* api.call("POST", "/v1/webhook_endpoints", { json: { url, event_types: [secret] } })
        const headers = { authorization: `Bearer ${secret}` }
        const endpoint = { url: "http://localhost:9/hooks", event_types: ["*"], headers }
        const refused = yield* api.call("POST", "/v1/webhook_endpoints", { json: endpoint })
        assert.notStrictEqual(refused.status, 201)
        yield* api.call("GET", `/v1/deliveries/${secret}`)
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

describe("webhook secrets", () => {
  it.effect("are only in the answer that shows them", () =>
    Effect.gen(function* () {
      const { faults, storage } = Faults.make()
      const api = yield* ApiServer.start({ storage })
      const created = yield* api.newEndpoint()
      const path = `/v1/webhook_endpoints/${created.id}`
      const rotated = yield* api.expect(200, "POST", `${path}/rotate_secret`)
      const event = yield* api.publish()
      const answers: Array<string> = []
      const look = Effect.gen(function* () {
        for (const target of [path, "/v1/webhook_endpoints", `/v1/events/${event}`, "/v1/deliveries"]) {
          answers.push((yield* api.call("GET", target)).text)
        }
        answers.push((yield* api.call("PATCH", path, { json: { description: "x" } })).text)
        answers.push((yield* api.call("POST", `${path}/test`, { json: { type: "invoice.paid" } })).text)
        // A secret in a wrong place.
        const misplaced = encodeURIComponent(String(created.at("secret")))
        answers.push((yield* api.call("GET", `/v1/events/${misplaced}`)).text)
        answers.push((yield* api.call("GET", `/v1/${misplaced}`)).text)
      })
      yield* look
      for (const fault of [Faults.unavailable, Faults.defect]) {
        faults.data = fault
        yield* look
        yield* api.call("POST", `${path}/rotate_secret`, { headers: { "idempotency-key": "k" } })
      }
      faults.data = Effect.void
      answers.push((yield* api.expect(200, "DELETE", path)).text)
      const heard = [...answers, ...api.logs].join("\n")
      for (const { secret } of [created.body, rotated.body] as ReadonlyArray<{ secret: string }>) {
        assert.match(secret, /^whsec_/)
        assert.notInclude(heard, secret)
        assert.notInclude(heard, secret.slice("whsec_".length))
        assert.notInclude(heard, encodeURIComponent(secret))
      }
    }),
  )
})

describe("traces", () => {
  /** The attributes that a tracing backend gets for a span. */
  const told = ({ attributes, events, name, status }: Tracer.NativeSpan): string => {
    const failure =
      status._tag === "Ended" && Exit.isFailure(status.exit) ? Cause.pretty(status.exit.cause) : ""
    return inspect([name, attributes, events, failure], { depth: Infinity })
  }

  it.effect("contain no keys, secrets or credentials of receivers, also after failures", () => {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      },
    })
    return Effect.gen(function* () {
      const { faults, storage } = Faults.make()
      const api = yield* ApiServer.start({ storage, billing: { keys: { cacheMillis: 0 } } })
      const receivers = yield* Receivers.make(api)
      const credential = "hunter2-hunter2"
      const created = yield* api.newEndpoint({ headers: { "x-anything": credential } })
      const path = `/v1/webhook_endpoints/${created.id}`
      const rotated = yield* api.expect(200, "POST", `${path}/rotate_secret`)
      const act = Effect.gen(function* () {
        yield* api.call("GET", path)
        yield* api.call("PATCH", path, { json: { headers: { "x-other": credential } } })
        yield* api.call("PATCH", path, { json: { url: "nowhere", headers: { "x-other": credential } } })
        yield* api.call("POST", `${path}/rotate_secret`)
        yield* api.call("POST", "/v1/events", { json: api.invoicePaid() })
        yield* api.call("GET", "/v1/customers", { key: `${api.testKey}x` })
      })
      yield* act
      yield* receivers.deliver
      for (const fault of [Faults.unavailable, Faults.defect]) {
        faults.data = fault
        yield* act
        faults.keys = fault
        yield* act
        faults.keys = Effect.void
      }
      assert.strictEqual(receivers.requests[0]?.headers["x-other"], credential)
      const text = spans.map(told).join("\n")
      for (const name of [
        "Endpoints.update",
        "Endpoints.rotateSecret",
        "Dispatcher.runDue",
        "StorageError",
      ]) {
        assert.include(text, name)
      }
      const secrets = [created, rotated].map((answer) => String(answer.at("secret")))
      for (const secret of [...secrets, api.testKey, credential]) assert.notInclude(text, secret)
    }).pipe(Effect.provideService(Tracer.Tracer, tracer))
  })
})
