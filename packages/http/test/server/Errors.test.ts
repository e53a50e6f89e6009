/**
 * Every row of the contract's table of errors, over real HTTP.
 */
import { FakeProvider } from "@billwright/core"
import { makeOpenApiDocument } from "@billwright/http/api"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import * as Faults from "../Faults.ts"
import { EXAMPLE_PLAN } from "../Generate.ts"
import { type Node, operationsOf } from "../Judge.ts"
import { securedOperations } from "../Operations.ts"

const ada = { name: "Ada", email: "ada@example.com" }
const MEBIBYTE = 1024 * 1024

describe("400 invalid_request", () => {
  it.effect("for malformed JSON, a broken rule, a missing parameter, an unknown field or a bad cursor", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const answers = [
        yield* api.expect(400, "POST", "/v1/customers", { body: `{"name": ` }),
        yield* api.expect(400, "POST", "/v1/customers", { json: { ...ada, name: "" } }),
        yield* api.expect(400, "POST", "/v1/customers", { json: { ...ada, nmae: "Ada" } }),
        yield* api.expect(400, "GET", "/v1/usage"),
        yield* api.expect(400, "GET", "/v1/customers?limit=0"),
        yield* api.expect(400, "GET", "/v1/customers?starting_after=x"),
        yield* api.expect(
          400,
          "GET",
          `/v1/usage?customer_id=${ApiServer.UNKNOWN.customer}&start_date=2026-02-30`,
        ),
      ]
      assert.deepStrictEqual(
        answers.map(({ message }) => message),
        [
          "the body is not valid JSON",
          "name must be 1 to 256 characters",
          "nmae is not a known field",
          "customer_id is required",
          "limit must be an integer from 1 to 100",
          "starting_after is not the id of an item of this list",
          "start_date must be a date that exists, written YYYY-MM-DD",
        ],
      )
    }),
  )

  it.effect("names unknown fields as they were sent", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      for (const name of ["customerId", "Name", "plan_name", "planName", "metadata2", "X"]) {
        const refused = yield* api.expect(400, "POST", "/v1/customers", { json: { ...ada, [name]: "x" } })
        assert.strictEqual(refused.message, `${name} is not a known field`)
      }
      const json = { ...ada, metadata: { planName: 1 } }
      const refused = yield* api.expect(400, "POST", "/v1/customers", { json })
      assert.strictEqual(refused.message, "metadata.planName must be a string")
      // Also next to fields that are decoded to objects, and inside lists.
      const customer_id = yield* api.newCustomer()
      const record = {
        customer_id,
        product_id: "api",
        quantity: 1,
        unit: "call",
        timestamp: "2026-01-01T00:00:00Z",
      }
      for (const unknown of [{ a: 1 }, { a: 1, b: 2 }, { a: {} }, { a: [{ b: 1 }] }]) {
        const single = yield* api.expect(400, "POST", "/v1/usage", { json: { ...record, ...unknown } })
        assert.strictEqual(single.message, "a is not a known field")
        const records = [record, { ...record, ...unknown }]
        const batch = yield* api.expect(400, "POST", "/v1/usage/batch", { json: { records } })
        assert.strictEqual(batch.message, "records[1].a is not a known field")
      }
    }),
  )

  it.effect("for fields or parameters of operations without a body or a query", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const id = yield* api.newCustomer()
      for (const json of [{ force: true }, [], [1], "x", 1, null, true]) {
        yield* api.expect(400, "DELETE", `/v1/customers/${id}`, { json })
      }
      const named = yield* api.expect(400, "DELETE", `/v1/customers/${id}?force=1`)
      assert.strictEqual(named.message, "force is not a known field")
      yield* api.expect(400, "GET", `/v1/customers/${id}?expand=usage`)
      yield* api.expect(400, "POST", "/v1/customers?dry_run=1", { json: ada })
      yield* api.expect(400, "GET", "/livez?verbose=1")
      yield* api.expect(400, "GET", "/readyz?verbose=1")
      yield* api.expect(200, "GET", `/v1/customers/${id}`)
    }),
  )

  it.effect("has a message of limited length, even when it quotes a long text", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const long = "😀".repeat(100_000)
      const bodies = [
        { ...ada, [long]: 1 },
        { ...ada, metadata: { [long]: "x" } },
        { ...ada, metadata: { [long]: 1 } },
      ]
      for (const json of bodies) {
        const refused = yield* api.expect(400, "POST", "/v1/customers", { json })
        assert.isTrue(refused.message.isWellFormed())
        assert.notMatch(refused.message, /^…|…$/)
      }
      const twice = `{"${long}": 1, "${long}": 2}`
      const refused = yield* api.expect(400, "POST", "/v1/customers", { body: twice })
      assert.isTrue(refused.message.endsWith("twice in one object"), refused.message.slice(-50))
      yield* api.expect(404, "GET", `/v1/${"x".repeat(8000)}`)
    }),
  )
})

/** What reads by POST, because a plan has no place in a query. */
const READING: ReadonlyArray<string> = [
  "checkEntitlement",
  "diffCatalog",
  "previewPlan",
  "previewNewSubscription",
  "previewSubscription",
]

/** A path with something in the place of each parameter. */
const filled = (path: string): string => path.replaceAll(/:\w+/g, "x")

/** What needs only a part of writing. */
const NARROW: Readonly<Record<string, string>> = {
  grantCredits: "grant",
  replayDelivery: "replay",
  replayEvent: "replay",
  replayWebhookEvents: "replay",
}

describe("403 forbidden", () => {
  it("is possible for every operation under /v1: reading needs a read scope, changing a write scope", () => {
    const documented = operationsOf(makeOpenApiDocument() as Node).filter(({ path }) =>
      path.startsWith("/v1/"),
    )
    assert.deepStrictEqual(
      securedOperations.map(({ id }) => id).toSorted(),
      documented.map(({ id }) => id).toSorted(),
    )
    for (const { id, method, permission } of securedOperations) {
      const isReading = method === "GET" || READING.includes(id)
      const expected = isReading ? "read" : (NARROW[id] ?? "write")
      assert.strictEqual(permission.split(":")[1], expected, id)
    }
  })

  it.effect(
    "for every operation without its scope, before the body is checked",
    () =>
      Effect.gen(function* () {
        const api = yield* ApiServer.start()
        assert.isAtLeast(securedOperations.length, 33)
        const everything = [
          "customers",
          "catalog",
          "subscriptions",
          "invoices",
          "payments",
          "credits",
          "entitlements",
          "usage",
          "events",
          "webhooks",
        ].flatMap((resource) => [`${resource}:read`, `${resource}:write`])
        everything.push("events:replay", "webhooks:replay", "credits:grant")
        for (const { id, method, path, permission } of securedOperations) {
          const [resource = ""] = permission.split(":")
          // Writing includes what only a part of it allows.
          const enoughAlso = NARROW[id] === undefined ? [] : [`${resource}:write`]
          const scopes = everything.filter(
            (scope) => scope !== permission && !enoughAlso.includes(scope),
          ) as never
          const lacking = yield* api.issue({ scopes })
          const target = filled(path)
          const call = { key: lacking.secret, ...(method === "GET" ? {} : { body: "not even JSON" }) }
          const refused = yield* api.expect(403, method, target, call)
          assert.deepStrictEqual(
            refused.body,
            { error: "forbidden", message: `the API key lacks the scope ${permission}` },
            id,
          )
          // It needs the scopes of all that it contains: `CustomerExport.test.ts`.
          if (id === "exportCustomer") continue
          for (const scope of [permission, `${resource}:*`, ...enoughAlso]) {
            const enough = yield* api.issue({ scopes: [scope] as never })
            const answer = yield* api.call(method, target, { key: enough.secret })
            assert.include([200, 201, 400, 404], answer.status, `${id} with ${scope}`)
          }
        }
      }),
    { timeout: 30_000 },
  )
})

describe("404 not_found", () => {
  it.effect("for unknown paths", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const paths = [
        "/v1",
        "/v1/",
        "/v1/customer",
        "/v1/customers/",
        "/v1/customers/x/y",
        "/v1/usage/records/",
      ]
      for (const path of [...paths, "/", "/v2/customers", "/docs/", "/openapi.yaml", "/favicon.ico"]) {
        const missing = yield* api.expect(404, "GET", path)
        assert.strictEqual(missing.message, `there is nothing at ${path}`)
      }
    }),
  )
})

describe("405 method_not_allowed", () => {
  it.effect("for every other method of every path, with Allow", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const methods = new Map<string, Array<string>>()
      for (const { method, path } of securedOperations) {
        methods.set(path, [...(methods.get(path) ?? []), ...(method === "GET" ? ["GET", "HEAD"] : [method])])
      }
      for (const page of ["/livez", "/readyz", "/docs", "/openapi.json"]) methods.set(page, ["GET", "HEAD"])
      for (const [path, allowed] of methods) {
        for (const method of [
          "GET",
          "HEAD",
          "POST",
          "PUT",
          "PATCH",
          "DELETE",
          "OPTIONS",
          "TRACE",
          "PROPFIND",
        ]) {
          if (allowed.includes(method)) continue
          const refused = yield* api.expect(405, method, filled(path))
          const allow = refused.headers["allow"]?.split(", ").sort() ?? []
          assert.deepStrictEqual(allow, [...allowed].sort(), `${method} ${path}`)
          // CORS is off by default.
          assert.notProperty(refused.headers, "access-control-allow-origin")
        }
      }
    }),
  )
})

describe("409 conflict", () => {
  it.effect("while a request with the same Idempotency-Key is running, with Retry-After", () =>
    Effect.gen(function* () {
      const gate = yield* Faults.makeGate
      const api = yield* ApiServer.start({ storage: gate.storage })
      const call = { json: ada, headers: { "idempotency-key": "once" } }
      const first = yield* Effect.forkChild(api.expect(201, "POST", "/v1/customers", call))
      yield* gate.reached
      const second = yield* api.expect(409, "POST", "/v1/customers", call)
      assert.deepStrictEqual(second.body, {
        error: "conflict",
        message: "a request with the same Idempotency-Key is still running",
      })
      assert.strictEqual(second.headers["retry-after"], "1")
      yield* gate.open
      const created = yield* Fiber.join(first)
      const third = yield* api.expect(201, "POST", "/v1/customers", call)
      assert.strictEqual(third.text, created.text)
      assert.lengthOf((yield* api.snapshot).customers, 1)
    }),
  )
})

describe("413 payload_too_large", () => {
  const padded = (size: number) => `{"name":"Ada","email":"ada@example.com"}`.padEnd(size)

  it.effect("for a Content-Length above exactly 1 MiB", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* api.expect(201, "POST", "/v1/customers", { body: padded(MEBIBYTE) })
      const refused = yield* api.expect(413, "POST", "/v1/customers", { body: padded(MEBIBYTE + 1) })
      assert.deepStrictEqual(refused.body, {
        error: "payload_too_large",
        message: "the body is larger than 1048576 bytes",
      })
      assert.lengthOf((yield* api.snapshot).customers, 1)
    }),
  )

  it.effect("for a chunked body, by counting its bytes", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const chunk = " ".repeat(64 * 1024)
      const chunks = (count: number) => [...Array.from({ length: count }, () => chunk), JSON.stringify(ada)]
      yield* api.expect(201, "POST", "/v1/customers", { chunks: chunks(15) })
      yield* api.expect(413, "POST", "/v1/customers", { chunks: chunks(16) })
    }),
  )

  it.effect("arrives even if the client keeps sending", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const body = Buffer.alloc(8 * MEBIBYTE, 32)
      for (let i = 0; i < 10; i++) {
        yield* api.expect(413, "POST", "/v1/customers", { body })
        yield* api.expect(413, "POST", "/v1/customers", { chunks: [body] })
      }
    }),
  )
})

describe("415 unsupported_media_type", () => {
  it.effect("for everything except application/json in UTF-8 without a content encoding", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const types = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/problem+json",
        "application/json; charset=latin1",
        "application/json; charset=utf-16",
        "application/json, text/plain",
      ]
      for (const type of types) {
        const headers = { "content-type": type }
        const refused = yield* api.expect(415, "POST", "/v1/customers", { json: ada, headers })
        assert.strictEqual(refused.error, "unsupported_media_type")
      }
      for (const encoding of ["gzip", "br", "deflate", "gzip, identity"]) {
        const headers = { "content-encoding": encoding }
        yield* api.expect(415, "POST", "/v1/customers", { json: ada, headers })
      }
      assert.lengthOf((yield* api.snapshot).customers, 0)
    }),
  )

  it.effect("not for application/json in any spelling, and not without a type", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const types = [
        "application/json",
        "Application/JSON; Charset=UTF-8",
        `application/json;charset="utf-8"`,
        "application/json; profile=x",
        "",
      ]
      for (const type of types) {
        yield* api.expect(201, "POST", "/v1/customers", { json: ada, headers: { "content-type": type } })
      }
      yield* api.expect(201, "POST", "/v1/customers", {
        json: ada,
        headers: { "content-encoding": "identity" },
      })
    }),
  )
})

describe("422 idempotency_key_reused", () => {
  it.effect("for the same key with another request", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const headers = { "idempotency-key": "once" }
      yield* api.expect(201, "POST", "/v1/customers", { json: ada, headers })
      const json = { ...ada, name: "Eve" }
      const reused = yield* api.expect(422, "POST", "/v1/customers", { json, headers })
      assert.strictEqual(reused.error, "idempotency_key_reused")
    }),
  )
})

describe("429 rate_limited", () => {
  it.effect("for each key, with Retry-After, and only if a limit is set", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ server: { rateLimit: { requestsPerSecond: 0.5, burst: 3 } } })
      const statuses = (key: string, count: number) =>
        Effect.map(
          Effect.forEach(Array.from({ length: count }), () => api.call("GET", "/v1/customers", { key })),
          (answers) => answers.map(({ status }) => status),
        )
      assert.deepStrictEqual(yield* statuses(api.testKey, 4), [200, 200, 200, 429])
      const refused = yield* api.expect(429, "GET", "/v1/nowhere")
      assert.strictEqual(refused.headers["retry-after"], "2")
      assert.deepStrictEqual(refused.body, {
        error: "rate_limited",
        message: "this API key has sent too many requests",
      })
      assert.deepStrictEqual(yield* statuses(api.liveKey, 1), [200])
      yield* api.expect(200, "GET", "/livez")
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* statuses(api.testKey, 2), [200, 429])
    }),
  )

  it.effect("for all keys of an account together, in both modes, if the host limits accounts", () =>
    Effect.gen(function* () {
      const accounts = { rateLimit: { requestsPerSecond: 0.5, burst: 3 } }
      const api = yield* ApiServer.start({ server: { accounts } })
      yield* api.expect(200, "GET", "/v1/customers")
      yield* api.expect(200, "GET", "/v1/customers", { key: api.liveKey })
      yield* api.expect(200, "GET", "/v1/customers")
      const refused = yield* api.expect(429, "GET", "/v1/customers", { key: api.liveKey })
      assert.strictEqual(refused.headers["retry-after"], "2")
      assert.deepStrictEqual(refused.body, {
        error: "rate_limited",
        message: "this account has sent too many requests",
      })
    }),
  )

  it.effect("is not stored for an Idempotency-Key", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ server: { rateLimit: { requestsPerSecond: 1 } } })
      yield* api.expect(200, "GET", "/v1/customers")
      const call = { json: ada, headers: { "idempotency-key": "once" } }
      yield* api.expect(429, "POST", "/v1/customers", call)
      yield* TestClock.adjust("1 second")
      yield* api.expect(201, "POST", "/v1/customers", call)
    }),
  )
})

describe("500 internal_error", () => {
  it.effect("for a defect, with details in the log but not in the answer", () =>
    Effect.gen(function* () {
      const { faults, storage } = Faults.make()
      const api = yield* ApiServer.start({ storage })
      faults.data = Faults.defect
      const answer = yield* api.expect(500, "POST", "/v1/customers", { json: ada })
      const requestId = answer.headers["request-id"]
      assert.deepStrictEqual(answer.body, {
        error: "internal_error",
        message: `something went wrong on the server: quote ${requestId} when you report it`,
      })
      const line = api.logs.find((log) => log.includes(String(requestId))) ?? ""
      assert.include(line, "db.internal")
      assert.include(line, "POST /v1/customers was answered 500")
      faults.data = Effect.void
      yield* api.expect(201, "POST", "/v1/customers", { json: ada })
    }),
  )
})

describe("503 unavailable", () => {
  it.effect.each(Object.entries(Faults.storageErrors))(
    "for every operation while the storage can't be reached, with Retry-After: %s",
    ([, fault]) =>
      Effect.gen(function* () {
        const { faults, storage } = Faults.make()
        const api = yield* ApiServer.start({
          storage,
          billing: { payments: new FakeProvider({ hasMethods: true }) },
        })
        const customer = yield* api.newCustomer()
        const record = (yield* api.record(customer)).id
        const usage = { customer_id: customer, product_id: "api", unit: "call", quantity: 1 }
        const account = { customer_id: customer, unit: "token" }
        const bodies: Readonly<Record<string, object>> = {
          createCustomer: ada,
          updateCustomer: { name: "Ada King" },
          recordUsage: usage,
          recordUsageBatch: { records: [usage] },
          pushCatalog: { plans: [EXAMPLE_PLAN] },
          diffCatalog: { plans: [EXAMPLE_PLAN] },
          previewPlan: { plan: "pro" },
          createSubscription: { customer_id: customer, plan: "pro" },
          previewNewSubscription: { customer_id: customer, plan: "pro" },
          previewSubscription: { action: "uncancel" },
          createPlanMigration: { plan: "pro", from_version: 1, at: "period_end" },
          changeSubscription: { plan: "pro", at: "now" },
          cancelSubscription: { at: "now" },
          createMeter: { key: "calls", product_id: "api", unit: "call" },
          updateMeter: { name: "Calls" },
          createCreditNote: { invoice_id: ApiServer.UNKNOWN.invoice, reason: "other" },
          recordPayment: { invoice_id: ApiServer.UNKNOWN.invoice },
          createRefund: { payment_id: ApiServer.UNKNOWN.payment, reason: "other" },
          grantCredits: { ...account, kind: "paid", amount: 1 },
          consumeCredits: { ...account, amount: 1 },
          reserveCredits: { ...account, amount: 1 },
          checkEntitlement: { customer_id: customer, feature: "exports" },
          consumeEntitlement: { customer_id: customer, feature: "exports" },
          extendHold: {},
          commitHold: {},
          createPaymentMethod: { customer_id: customer },
          updatePaymentMethod: { metadata: {} },
          startPaymentMethodSetup: {},
          startInvoicePayment: {},
          resolveRefund: { status: "failed" },
          createCoupon: { code: "HALF", name: "Half", percent: "50", duration: "once" },
          createRedemption: { coupon: "HALF", subscription_id: ApiServer.UNKNOWN.subscription },
          createInvoice: { customer_id: customer },
          createInvoiceItem: { customer_id: customer, currency: "EUR", amount: 1, description: "Set-up" },
          createTopUp: { customer_id: customer, unit: "EUR", amount: 1 },
          createTokenUsage: { customer_id: customer, rate_card: "llm", model: "m", tokens: { input: 1 } },
          waiveTokenUsage: { by: "Ada", reason: "A test" },
          createAutoTopUp: { customer_id: customer, unit: "EUR", amount: 1, level: 1 },
          updateAutoTopUp: { level: 2 },
          createCreditAlert: { customer_id: customer, unit: "token", level: 1 },
          updateCreditAlert: { level: 2 },
          createSpendAlert: { customer_id: customer, currency: "EUR", amount: 1 },
          updateSpendAlert: { amount: 2 },
          createTestClock: {},
          advanceTestClock: { to: "2027-01-01T00:00:00Z" },
          createUsageThreshold: { ...usage, period: "day" },
          publishEvent: api.invoicePaid(),
          createWebhookEndpoint: { url: "http://localhost:9/hooks", event_types: ["*"] },
          updateWebhookEndpoint: { status: "disabled" },
          testWebhookEndpoint: { type: "invoice.paid" },
          replayWebhookEvents: { since: "2026-11-01T00:00:00Z" },
        }
        const queries: Readonly<Record<string, string>> = {
          summarizeUsage: `?customer_id=${customer}`,
          listUsageSeries: `?customer_id=${customer}&start_date=2026-11-21&end_date=2026-11-21&window=day`,
          listUsageRecords: `?customer_id=${customer}`,
          listEntitlements: `?customer_id=${customer}`,
          getCreditBalance: `?customer_id=${customer}&unit=token`,
          getUpcomingInvoice: `?subscription_id=${ApiServer.UNKNOWN.subscription}`,
        }
        const owns = {
          audit_log: ApiServer.UNKNOWN.auditRecord,
          coupons: ApiServer.UNKNOWN.coupon,
          credit_notes: ApiServer.UNKNOWN.creditNote,
          credit_grants: ApiServer.UNKNOWN.creditGrant,
          payments: ApiServer.UNKNOWN.payment,
          refunds: ApiServer.UNKNOWN.refund,
          disputes: ApiServer.UNKNOWN.dispute,
          payment_methods: ApiServer.UNKNOWN.paymentMethod,
          invoice_items: ApiServer.UNKNOWN.invoiceItem,
          invoice_proofs: ApiServer.UNKNOWN.invoiceProof,
          book_checks: ApiServer.UNKNOWN.bookCheck,
          plan_migrations: ApiServer.UNKNOWN.planMigration,
          redemptions: ApiServer.UNKNOWN.redemption,
          auto_top_ups: ApiServer.UNKNOWN.autoTopUp,
          top_ups: ApiServer.UNKNOWN.topUp,
          token_usages: ApiServer.UNKNOWN.tokenUsage,
          credit_alerts: ApiServer.UNKNOWN.creditAlert,
          spend_alerts: ApiServer.UNKNOWN.spendAlert,
          rate_cards: ApiServer.UNKNOWN.rateCard,
          thresholds: ApiServer.UNKNOWN.threshold,
          holds: ApiServer.UNKNOWN.hold,
          meters: ApiServer.UNKNOWN.meter,
          test_clocks: ApiServer.UNKNOWN.testClock,
          subscriptions: ApiServer.UNKNOWN.subscription,
          invoices: ApiServer.UNKNOWN.invoice,
          records: record,
          webhook_endpoints: ApiServer.UNKNOWN.endpoint,
          events: ApiServer.UNKNOWN.event,
          deliveries: ApiServer.UNKNOWN.delivery,
        }
        faults.data = fault
        for (const { id, method, path } of securedOperations) {
          // The catalogue is in the process itself.
          if (id === "listEventTypes") continue
          const own = Object.entries(owns).find(([part]) => path.includes(part))?.[1] ?? customer
          const target = `${path.replace(":id", own).replace(":key", "pro").replace(":version", "1")}${queries[id] ?? ""}`
          for (const headers of [{}, method === "GET" ? {} : { "idempotency-key": id }]) {
            const answer = yield* api.expect(503, method, target, { json: bodies[id], headers })
            assert.strictEqual(answer.headers["retry-after"], "1", id)
            assert.deepStrictEqual(answer.body, {
              error: "unavailable",
              message: "the storage is out of reach, try again in a moment",
            })
          }
        }
        yield* api.expect(200, "GET", "/livez")
        faults.data = Effect.void
        yield* api.expect(200, "GET", `/v1/customers/${customer}`)
      }),
  )

  it.effect("from /readyz when the storage is read-only, but not from /livez", () =>
    Effect.gen(function* () {
      const { faults, storage } = Faults.make()
      faults.keyWrites = Faults.unavailable
      const api = yield* ApiServer.start({ storage })
      yield* api.expect(200, "GET", "/v1/customers")
      yield* api.expect(503, "GET", "/readyz")
      yield* api.expect(200, "GET", "/livez")
      faults.keyWrites = Effect.void
      yield* api.expect(200, "GET", "/readyz")
    }),
  )

  it.effect("also when the API keys can't be read, from /readyz too, but not from /livez", () =>
    Effect.gen(function* () {
      const { faults, storage } = Faults.make()
      const api = yield* ApiServer.start({ storage, billing: { keys: { cacheMillis: 0 } } })
      yield* api.expect(200, "GET", "/readyz")
      for (const fault of Object.values(Faults.storageErrors)) {
        faults.keys = fault
        const { message } = yield* api.expect(503, "GET", "/v1/customers")
        assert.strictEqual(message, "the storage is out of reach, try again in a moment")
      }
      const notReady = yield* api.expect(503, "GET", "/readyz")
      assert.strictEqual(notReady.headers["retry-after"], "1")
      assert.deepStrictEqual((yield* api.expect(200, "GET", "/livez")).body, { status: "ok" })
      faults.keys = Effect.void
      assert.deepStrictEqual((yield* api.expect(200, "GET", "/readyz")).body, { status: "ok" })
    }),
  )

  it.effect(
    "is logged once, then after 1, 2, 4 … minutes with the number of skipped entries, and so is the end",
    () =>
      Effect.gen(function* () {
        const { faults, storage } = Faults.make()
        const api = yield* ApiServer.start({ storage })
        const logged = () =>
          api.logs
            .map((line) => String((JSON.parse(line) as { readonly message: unknown }).message))
            .flatMap((message) => /^(GET|requests)[^,]*/.exec(message)?.[0] ?? [])
        const failed = "GET /v1/customers was answered 503"
        const fail = api.expect(503, "GET", "/v1/customers")
        faults.data = Faults.unavailable
        for (let n = 0; n < 5; n++) yield* fail
        assert.deepStrictEqual(logged(), [failed])
        yield* TestClock.adjust("1 minute")
        // Neither of these shows that the storage works again.
        yield* api.expect(200, "GET", "/livez")
        yield* api.expect(404, "GET", "/v1/nowhere")
        for (let n = 0; n < 3; n++) yield* fail
        yield* TestClock.adjust("1 minute")
        yield* fail
        assert.deepStrictEqual(logged().slice(1), [`${failed} (4 failures were not logged)`])
        yield* TestClock.adjust("1 minute")
        yield* fail
        assert.deepStrictEqual(logged().slice(2), [`${failed} (3 failures were not logged)`])
        faults.data = Effect.void
        yield* api.expect(200, "GET", "/v1/customers")
        yield* TestClock.adjust("10 seconds")
        yield* api.expect(200, "GET", "/v1/customers")
        yield* api.expect(200, "GET", "/readyz")
        assert.deepStrictEqual(logged().slice(3), ["requests are answered again"])
        faults.data = Faults.unavailable
        yield* fail
        assert.deepStrictEqual(logged().slice(4), [failed])
      }),
  )
})

describe("every answer", () => {
  it.effect("has its own Request-Id, and headers against caching and content sniffing", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const ids = new Set<string | undefined>()
      const paths = ["/v1/customers", "/v1/nowhere", "/livez", "/docs", "/openapi.json", "/"]
      for (const path of paths) {
        const answer = yield* api.call("GET", path)
        ids.add(answer.headers["request-id"])
        assert.strictEqual(answer.headers["x-content-type-options"], "nosniff")
        assert.strictEqual(answer.headers["cache-control"], "no-store")
      }
      assert.strictEqual(ids.size, paths.length)
      const own = { headers: { "request-id": "mine" } }
      assert.notStrictEqual((yield* api.call("GET", "/livez", own)).headers["request-id"], "mine")
    }),
  )

  it.effect("to HEAD is the answer to GET without a body", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* api.expect(200, "HEAD", "/v1/customers")
      yield* api.expect(200, "HEAD", "/livez")
      yield* api.expect(200, "HEAD", "/docs")
      yield* api.expect(404, "HEAD", `/v1/customers/${ApiServer.UNKNOWN.customer}`)
      yield* api.expect(401, "HEAD", "/v1/customers", { key: null })
      yield* api.expect(400, "HEAD", "/v1/usage")
    }),
  )
})
