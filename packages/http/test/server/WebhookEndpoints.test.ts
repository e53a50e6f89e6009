import { generateKey } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import * as Receivers from "../Receivers.ts"

const PATH = "/v1/webhook_endpoints"
const minimal = { url: "https://example.com/hooks", event_types: ["*"] }

describe("POST /v1/webhook_endpoints", () => {
  it.effect("answers 201 with the endpoint and its secret, which no other answer shows", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const json = {
        url: "http://localhost:3000/hooks?a=b",
        event_types: ["invoice.paid", "usage.threshold"],
        description: "Bookkeeping",
        headers: { "x-team": "books", authorization: "Basic ada" },
        metadata: { aB: "c" },
        signature: "hmac",
      }
      const created = yield* api.expect(201, "POST", PATH, { json })
      const { secret, ...shown } = created.body as { secret: string }
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.deepStrictEqual(shown as object, {
        object: "webhook_endpoint",
        id: created.id,
        ...json,
        headers: { "x-team": "***", authorization: "***" },
        public_key: null,
        status: "enabled",
        disabled_reason: null,
        disabled_at: null,
        failing_since: null,
        livemode: false,
        created_at: ApiServer.NOW,
        updated_at: ApiServer.NOW,
      })
      const found = yield* api.expect(200, "GET", `${PATH}/${created.id}`)
      assert.deepStrictEqual(found.body, shown)
      const list = yield* api.expect(200, "GET", PATH)
      assert.deepStrictEqual(list.at("data"), [shown])
      assert.notInclude(api.logs.join("\n"), secret)
    }),
  )

  it.effect("shows the public key with ed25519, and never the private key", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const created = yield* api.newEndpoint({ signature: "ed25519" })
      assert.match(String(created.at("public_key")), /^whpk_[A-Za-z0-9+/]{43}=$/)
      assert.notProperty(created.body, "secret")
      assert.notInclude(created.text, "whsk_")
      const found = yield* api.expect(200, "GET", `${PATH}/${created.id}`)
      assert.strictEqual(found.text, created.text)
      const rotated = yield* api.expect(200, "POST", `${PATH}/${created.id}/rotate_secret`)
      assert.notStrictEqual(rotated.at("public_key"), created.at("public_key"))
      assert.notProperty(rotated.body, "secret")
    }),
  )

  it.effect("requires https and an encryption key in live mode", () =>
    Effect.gen(function* () {
      const without = yield* ApiServer.start()
      const refused = yield* without.expect(409, "POST", PATH, { json: minimal, key: without.liveKey })
      assert.strictEqual(refused.error, "conflict")
      assert.include(refused.message, "encryption key")
      // The operator has to fix this, so the error isn't stored for repeats of the request.
      const headers = { "idempotency-key": "k" }
      for (const json of [minimal, { ...minimal, description: "other content" }]) {
        const again = yield* without.expect(409, "POST", PATH, { json, headers, key: without.liveKey })
        assert.notProperty(again.headers, "idempotent-replayed")
      }
      assert.deepStrictEqual((yield* without.snapshot).idempotency, [])
      assert.lengthOf((yield* without.snapshot).endpoints, 0)

      const api = yield* ApiServer.start({ billing: { encryption: generateKey("k1") } })
      const created = yield* api.expect(201, "POST", PATH, { json: minimal, key: api.liveKey })
      assert.strictEqual(created.at("livemode"), true)
      const json = { ...minimal, url: "http://example.com/hooks" }
      const plain = yield* api.expect(400, "POST", PATH, { json, key: api.liveKey })
      assert.strictEqual(plain.message, "url must use https (http is for test mode)")
    }),
  )

  it.effect("names a missing, wrong or unknown field", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const types = `must be ["*"] or 1 to 1000 different event types`
      const cases = [
        [{}, "url is required"],
        [{ url: minimal.url }, "event_types is required"],
        [{ ...minimal, url: "ftp://example.com" }, "url must begin with https:// or http://"],
        [{ ...minimal, url: "https://10.0.0.1/" }, "url must not point to 10.0.0.1: it is not public"],
        [{ ...minimal, url: "https://a:b@example.com/" }, "url must not have a user name or password"],
        [{ ...minimal, event_types: [] }, `event_types ${types}`],
        [
          { ...minimal, event_types: "*" },
          'event_types must be a list of event types, or ["*"] for all of them',
        ],
        [{ ...minimal, event_types: ["*", "invoice.paid"] }, `event_types ${types}`],
        [{ ...minimal, event_types: ["invoice.paid", "invoice.paid"] }, `event_types ${types}`],
        [{ ...minimal, event_types: ["invoice.paid", "x"] }, 'event_types[1] must be "*" or an event type'],
        [
          { ...minimal, event_types: ["invoice.paid", "invoice.payed"] },
          `event_types[1] is not a known event type: "invoice.payed"`,
        ],
        [{ ...minimal, description: "x".repeat(501) }, "description must be 0 to 500 characters"],
        [{ ...minimal, headers: { host: "x" } }, "headers.host is not a header that can be set"],
        [
          { ...minimal, headers: { "X-Team": "x" } },
          `headers["X-Team"] must be written in lower case: "x-team"`,
        ],
        [{ ...minimal, headers: { "x-team": "a\nb" } }, `headers["x-team"] must be visible ASCII`],
        [{ ...minimal, headers: { "x-team": "***" } }, "headers must not have the value ***"],
        [{ ...minimal, metadata: { aB: 1 } }, "metadata.aB must be a string"],
        [{ ...minimal, signature: "rsa" }, "signature must be hmac or ed25519"],
        [{ ...minimal, eventTypes: ["*"] }, "eventTypes is not a known field"],
        [{ ...minimal, secret: "x" }, "secret is not a known field"],
      ] as const
      for (const [json, message] of cases) {
        const refused = yield* api.expect(400, "POST", PATH, { json })
        assert.isTrue(refused.message.startsWith(message), refused.message)
      }
      assert.lengthOf((yield* api.snapshot).endpoints, 0)
    }),
  )

  it.effect("allows 500 endpoints for a tenant", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* Effect.forEach(Array.from({ length: 500 }), () => api.newEndpoint(), { concurrency: 10 })
      const refused = yield* api.expect(409, "POST", PATH, { json: minimal })
      assert.strictEqual(refused.message, "there are already 500 webhook endpoints")
      const stranger = (yield* api.issue({ account: "other" })).secret
      yield* api.newEndpoint({}, { key: stranger })
    }),
  )
})

describe("GET /v1/webhook_endpoints", () => {
  it.effect("lists newest first, with pages and a filter by status", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const [a, b, c] = [yield* api.newEndpoint(), yield* api.newEndpoint(), yield* api.newEndpoint()]
      yield* api.expect(200, "PATCH", `${PATH}/${b.id}`, { json: { status: "disabled" } })
      const list = (query: Readonly<Record<string, string | number>>) =>
        Effect.map(api.expect(200, "GET", PATH, { query }), (answer) => answer.ids)
      assert.deepStrictEqual(yield* list({}), [c.id, b.id, a.id])
      assert.deepStrictEqual(yield* list({ limit: 1, starting_after: c.id }), [b.id])
      assert.deepStrictEqual(yield* list({ limit: 1, ending_before: a.id }), [b.id])
      assert.deepStrictEqual(yield* list({ status: "enabled" }), [c.id, a.id])
      assert.deepStrictEqual(yield* list({ status: "disabled" }), [b.id])
      const refused = yield* api.expect(400, "GET", `${PATH}?status=on`)
      assert.strictEqual(refused.message, "status must be enabled or disabled")
      for (const id of ["x", ApiServer.UNKNOWN.endpoint]) {
        const missing = yield* api.expect(404, "GET", `${PATH}/${id}`)
        assert.strictEqual(missing.message, `no webhook endpoint has the id ${id}`)
      }
    }),
  )
})

describe("PATCH /v1/webhook_endpoints/{id}", () => {
  it.effect("changes only the given fields, and null removes a value", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const fields = { description: "d", headers: { "x-a": "1" }, metadata: { plan: "pro", seats: "3" } }
      const { secret: _, ...before } = (yield* api.newEndpoint(fields)).body as Record<string, unknown>
      const path = `${PATH}/${String(before["id"])}`
      yield* TestClock.adjust("1 minute")
      const change = (json: object) => api.expect(200, "PATCH", path, { json })
      assert.deepStrictEqual((yield* change({})).body, before)
      const updated = { ...before, updated_at: "2026-11-21T09:31:00.000Z" }
      const moved = { url: "http://localhost:9/new", event_types: ["invoice.paid"] }
      assert.deepStrictEqual((yield* change(moved)).body, { ...updated, ...moved })
      const patched = yield* change({ metadata: { plan: null, region: "eu" }, headers: { "x-b": "2" } })
      assert.deepStrictEqual(patched.body, {
        ...updated,
        ...moved,
        metadata: { seats: "3", region: "eu" },
        headers: { "x-b": "***" },
      })
      const cleared = yield* change({ description: null, headers: null, metadata: null })
      const nothing = { description: null, headers: {}, metadata: {} }
      assert.deepStrictEqual(cleared.body, { ...updated, ...moved, ...nothing })
      assert.strictEqual((yield* api.expect(200, "GET", path)).text, cleared.text)
      for (const json of [
        { url: null },
        { event_types: null },
        { signature: "hmac" },
        { status: "gone" },
        undefined,
      ]) {
        yield* api.expect(400, "PATCH", path, { json })
      }
      yield* change({ headers: { "x-a": "1" } })
      const elsewhere = yield* api.expect(400, "PATCH", path, { json: { url: "https://elsewhere.example/" } })
      assert.match(elsewhere.message, /^headers must be given again, or be null to remove them: /)
      yield* api.expect(404, "PATCH", `${PATH}/${ApiServer.UNKNOWN.endpoint}`, { json: {} })
    }),
  )

  it.effect(
    "disables an endpoint and ends its pending deliveries, and enables it without sending missed events",
    () =>
      Effect.gen(function* () {
        const api = yield* ApiServer.start()
        const receivers = yield* Receivers.make(api)
        const { id } = yield* api.newEndpoint()
        const event = yield* api.publish()
        const disabled = yield* api.expect(200, "PATCH", `${PATH}/${id}`, { json: { status: "disabled" } })
        assert.deepInclude(disabled.body, {
          status: "disabled",
          disabled_reason: "manual",
          disabled_at: ApiServer.NOW,
        })
        const found = yield* api.expect(200, "GET", `/v1/events/${event}`)
        assert.deepInclude(found.at("deliveries", 0), { status: "Failed", reason: "endpoint_disabled" })
        const enabled = yield* api.expect(200, "PATCH", `${PATH}/${id}`, { json: { status: "enabled" } })
        assert.deepInclude(enabled.body, { status: "enabled", disabled_reason: null, disabled_at: null })
        assert.strictEqual(yield* receivers.deliver, 0)
      }),
  )
})

describe("DELETE /v1/webhook_endpoints/{id}", () => {
  it.effect("ends pending deliveries and keeps the history", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const { id } = yield* api.newEndpoint()
      const event = yield* api.publish()
      const deleted = yield* api.expect(200, "DELETE", `${PATH}/${id}`)
      assert.deepStrictEqual(deleted.body, { object: "webhook_endpoint", id, deleted: true })
      for (const [method, path] of [
        ["GET", `${PATH}/${id}`],
        ["DELETE", `${PATH}/${id}`],
        ["POST", `${PATH}/${id}/rotate_secret`],
      ] as const) {
        yield* api.expect(404, method, path)
      }
      assert.deepStrictEqual((yield* api.expect(200, "GET", PATH)).ids, [])
      const [delivery] = (yield* api.expect(200, "GET", `/v1/deliveries?event_id=${event}`)).ids
      const kept = yield* api.expect(200, "GET", `/v1/deliveries/${delivery}`)
      assert.deepInclude(kept.body, { endpoint_id: id, status: "Failed", reason: "endpoint_deleted" })
      const replay = yield* api.expect(404, "POST", `/v1/deliveries/${delivery}/replay`)
      assert.strictEqual(replay.message, `no webhook endpoint has the id ${id}`)
    }),
  )
})

describe("POST /v1/webhook_endpoints/{id}/rotate_secret", () => {
  it.effect("returns a new secret, and webhooks are signed with both until the old one ends", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const receivers = yield* Receivers.make(api)
      const created = yield* api.newEndpoint()
      const path = `${PATH}/${created.id}/rotate_secret`
      const rotated = yield* api.expect(200, "POST", path, { json: { expire_previous_after_seconds: 60 } })
      assert.match(String(rotated.at("secret")), /^whsec_/)
      assert.notStrictEqual(rotated.at("secret"), created.at("secret"))
      const signatures = Effect.gen(function* () {
        yield* api.publish()
        yield* receivers.deliver
        return receivers.requests.at(-1)?.headers["webhook-signature"]?.split(" ").length
      })
      assert.strictEqual(yield* signatures, 2)
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* signatures, 1)
      // Without a body, both sign for a day.
      yield* api.expect(200, "POST", path)
      yield* TestClock.adjust("86399 seconds")
      assert.strictEqual(yield* signatures, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* signatures, 1)
      for (const seconds of [-1, 604_801, 1.5]) {
        const json = { expire_previous_after_seconds: seconds }
        const refused = yield* api.expect(400, "POST", path, { json })
        assert.strictEqual(
          refused.message,
          "expire_previous_after_seconds must be an integer from 0 to 604800",
        )
      }
      for (const json of [{ expire_previous_after_seconds: "60" }, { expirePreviousAfterSeconds: 60 }, []]) {
        yield* api.expect(400, "POST", path, { json })
      }
    }),
  )
})

describe("POST /v1/webhook_endpoints/{id}/test", () => {
  it.effect(
    "sends the example of a type only to this endpoint, even if it doesn't subscribe to the type",
    () =>
      Effect.gen(function* () {
        const api = yield* ApiServer.start()
        const receivers = yield* Receivers.make(api)
        yield* api.newEndpoint()
        const { id } = yield* api.newEndpoint({
          url: "http://localhost:7/only",
          event_types: ["payment.failed"],
        })
        const event = yield* api.expect(201, "POST", `${PATH}/${id}/test`, { json: { type: "invoice.paid" } })
        assert.deepInclude(event.body, {
          object: "event",
          type: "invoice.paid",
          customer_id: null,
          endpoint_id: id,
        })
        yield* receivers.deliver
        assert.deepStrictEqual(
          receivers.requests.map(({ url }) => url),
          ["http://localhost:7/only"],
        )
        assert.strictEqual(receivers.requests[0]?.headers["webhook-id"], event.id)
        const unknown = yield* api.expect(400, "POST", `${PATH}/${id}/test`, {
          json: { type: "invoice.payed" },
        })
        assert.strictEqual(unknown.message, `type is not a known event type: "invoice.payed"`)
        yield* api.expect(400, "POST", `${PATH}/${id}/test`)
        yield* api.expect(200, "PATCH", `${PATH}/${id}`, { json: { status: "disabled" } })
        yield* api.expect(409, "POST", `${PATH}/${id}/test`, { json: { type: "invoice.paid" } })
      }),
  )
})

describe("POST /v1/webhook_endpoints/{id}/replay", () => {
  it.effect("sends failed or all events of a time range again, and returns their number", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const receivers = yield* Receivers.make(api)
      const { id } = yield* api.newEndpoint()
      yield* api.publish()
      yield* api.publish({ type: "invoice.created" })
      yield* receivers.deliver
      receivers.answer = { _tag: "Failed", error: "timeout" }
      yield* api.publish()
      for (let attempt = 0; attempt < 5; attempt++) {
        yield* receivers.deliver
        yield* TestClock.adjust("1 minute")
      }
      receivers.answer = { _tag: "Answered", status: 200, headers: {}, body: "" }
      const path = `${PATH}/${id}/replay`
      const replay = (json: object) =>
        Effect.map(api.expect(200, "POST", path, { json }), (answer) => answer.body as { count: number })
      const since = "2026-11-21T00:00:00Z"
      const answer = { object: "webhook_replay", endpoint_id: id, count: 1 }
      assert.deepStrictEqual(yield* replay({ since, dry_run: true }), { ...answer, dry_run: true } as object)
      assert.deepStrictEqual(yield* replay({ since }), { ...answer, dry_run: false } as object)
      // Its delivery is pending now.
      assert.strictEqual((yield* replay({ since })).count, 0)
      yield* receivers.deliver
      assert.strictEqual((yield* replay({ since, until: "2026-11-21T09:00:00Z", status: "all" })).count, 0)
      assert.strictEqual((yield* replay({ since, status: "all", types: ["invoice.created"] })).count, 1)
      assert.strictEqual((yield* replay({ since, status: "all" })).count, 2)
      const cases = [
        [{}, "since is required"],
        [{ since: "yesterday" }, "since must be an RFC 3339 instant"],
        [{ since, until: since }, "since must be before until"],
        [{ since, status: "Delivered" }, "status must be Failed or all"],
        [{ since, types: ["invoice.paid", "no.such"] }, `types[1] is not a known event type: "no.such"`],
      ] as const
      for (const [json, message] of cases) {
        const refused = yield* api.expect(400, "POST", path, { json })
        assert.isTrue(refused.message.startsWith(message), refused.message)
      }
      yield* api.expect(200, "PATCH", `${PATH}/${id}`, { json: { status: "disabled" } })
      yield* api.expect(409, "POST", path, { json: { since } })
    }),
  )
})
