import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import * as Receivers from "../Receivers.ts"

describe("GET /v1/deliveries/{id}", () => {
  it.effect("returns the request and the answer of each attempt", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const receivers = yield* Receivers.make(api)
      const endpoint = (yield* api.newEndpoint({ headers: { authorization: "Basic ada", "x-team": "a" } })).id
      const event = yield* api.publish()
      const [id] = (yield* api.expect(200, "GET", "/v1/deliveries")).ids
      receivers.answer = { _tag: "Failed", error: "connection_refused" }
      yield* receivers.deliver
      yield* TestClock.adjust("10 seconds")
      receivers.answer = { _tag: "Answered", status: 503, headers: { "retry-after": "60" }, body: "busy" }
      yield* receivers.deliver
      yield* TestClock.adjust("61 seconds")
      receivers.answer = { _tag: "Answered", status: 200, headers: { "x-a": "b" }, body: "thanks" }
      yield* receivers.deliver

      const found = yield* api.expect(200, "GET", `/v1/deliveries/${id}`)
      const { attempts, ...delivery } = found.body as { attempts: ReadonlyArray<Record<string, unknown>> }
      assert.deepStrictEqual(delivery as object, {
        object: "delivery",
        id,
        event_id: event,
        event_type: "invoice.paid",
        endpoint_id: endpoint,
        status: "Delivered",
        reason: null,
        attempt_count: 3,
        next_attempt_at: null,
        last_response_status: 200,
        last_error: null,
        finished_at: "2026-11-21T09:31:11.000Z",
        attempt_started_at: null,
        livemode: false,
        created_at: ApiServer.NOW,
      })
      const [first, second, third] = attempts
      const unanswered = { response_status: null, response_headers: null, response_body: null }
      assert.deepInclude(first, { number: 1, ...unanswered, error: "connection_refused", duration_ms: 0 })
      assert.deepInclude(second, { number: 2, response_status: 503, response_body: "busy", error: null })
      assert.deepInclude(third, {
        number: 3,
        started_at: "2026-11-21T09:31:11.000Z",
        response_status: 200,
        response_headers: { "x-a": "b" },
        response_body: "thanks",
      })
      assert.deepInclude(third?.["request_headers"] as object, {
        "content-type": "application/json",
        "webhook-id": event,
        "webhook-signature": "***",
        authorization: "***",
        "x-team": "***",
      })
      assert.notInclude(found.text, "Basic ada")
      for (const unknown of ["x", ApiServer.UNKNOWN.delivery, event]) {
        const missing = yield* api.expect(404, "GET", `/v1/deliveries/${unknown}`)
        assert.strictEqual(missing.message, `no delivery has the id ${unknown}`)
      }
    }),
  )
})

describe("GET /v1/deliveries", () => {
  it.effect("lists newest first, with pages and filters by status, endpoint and event", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const receivers = yield* Receivers.make(api)
      const a = (yield* api.newEndpoint()).id
      const first = yield* api.publish()
      yield* receivers.deliver
      const b = (yield* api.newEndpoint({ event_types: ["invoice.paid"] })).id
      const second = yield* api.publish()
      const all = yield* api.expect(200, "GET", "/v1/deliveries")
      assert.lengthOf(all.ids, 3)
      assert.deepStrictEqual(all.ids, all.ids.toSorted().toReversed())
      const list = (query: Readonly<Record<string, string | number>>) =>
        Effect.map(api.expect(200, "GET", "/v1/deliveries", { query }), (answer) =>
          (answer.at("data") as ReadonlyArray<{ event_id: string; endpoint_id: string }>).map((each) => [
            each.event_id,
            each.endpoint_id,
          ]),
        )
      assert.deepStrictEqual(yield* list({ status: "Delivered" }), [[first, a]])
      assert.deepStrictEqual(yield* list({ endpoint_id: b }), [[second, b]])
      assert.deepStrictEqual(yield* list({ event_id: first }), [[first, a]])
      assert.deepStrictEqual(yield* list({ event_id: first, endpoint_id: b }), [])
      assert.deepStrictEqual(yield* list({ status: "Failed" }), [])
      const query = { limit: 1, starting_after: all.ids[1] ?? "" }
      assert.deepStrictEqual(
        (yield* api.expect(200, "GET", "/v1/deliveries", { query })).ids,
        all.ids.slice(2),
      )
      const cases = [
        ["status=failed", "status must be Pending, Delivered or Failed"],
        [
          "endpoint_id=x",
          "endpoint_id must be an id that starts with whe_, with 26 lower-case letters and digits after it",
        ],
        [
          "event_id=x",
          "event_id must be an id that starts with evt_, with 26 lower-case letters and digits after it",
        ],
        ["ending_before=x", "ending_before is not the id of an item of this list"],
      ] as const
      for (const [wrong, message] of cases) {
        assert.strictEqual((yield* api.expect(400, "GET", `/v1/deliveries?${wrong}`)).message, message)
      }
    }),
  )
})

describe("POST /v1/deliveries/{id}/replay", () => {
  it.effect("creates a new delivery of the same event to the same endpoint, and keeps the old one", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const receivers = yield* Receivers.make(api)
      const endpoint = (yield* api.newEndpoint()).id
      const event = yield* api.publish()
      yield* receivers.deliver
      const [old] = (yield* api.expect(200, "GET", "/v1/deliveries")).ids
      const before = (yield* api.expect(200, "GET", `/v1/deliveries/${old}`)).text
      const headers = { "idempotency-key": "once" }
      const made = yield* api.expect(201, "POST", `/v1/deliveries/${old}/replay`, { headers })
      assert.deepInclude(made.body, {
        event_id: event,
        endpoint_id: endpoint,
        status: "Pending",
        attempt_count: 0,
      })
      assert.notStrictEqual(made.id, old)
      const again = yield* api.expect(201, "POST", `/v1/deliveries/${old}/replay`, { headers })
      assert.strictEqual(again.text, made.text)
      assert.strictEqual((yield* api.expect(200, "GET", `/v1/deliveries/${old}`)).text, before)
      yield* receivers.deliver
      const [first, second, ...more] = receivers.requests
      assert.lengthOf(more, 0)
      assert.strictEqual(second?.body, first?.body)
      yield* api.expect(400, "POST", `/v1/deliveries/${old}/replay`, { json: { endpoint_id: endpoint } })
      yield* api.expect(404, "POST", `/v1/deliveries/${ApiServer.UNKNOWN.delivery}/replay`)
      yield* api.expect(200, "PATCH", `/v1/webhook_endpoints/${endpoint}`, { json: { status: "disabled" } })
      yield* api.expect(409, "POST", `/v1/deliveries/${old}/replay`)
    }),
  )
})
