import { BillingRuns, InvoiceStore, SubscriptionStore } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"

const PRO = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } },
    { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.01" } },
  ],
}

/** A server with a meter, a plan and a customer. */
const begin = Effect.fnUntraced(function* () {
  const api = yield* ApiServer.start()
  const meter = { key: "calls", product_id: "api", unit: "call" }
  yield* api.expect(201, "POST", "/v1/meters", { json: meter })
  yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [PRO] } })
  const customer = yield* api.newCustomer()
  const ordered = { customer_id: customer, plan: "pro", quantities: { seats: "3" } }
  const runDue = api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
  return { api, customer, ordered, runDue }
})

describe("subscriptions", () => {
  it.effect("are created, read and listed by customer and phase", () =>
    Effect.gen(function* () {
      const { api, customer, ordered } = yield* begin()
      const created = yield* api.expect(201, "POST", "/v1/subscriptions", {
        json: { ...ordered, metadata: { order: "4711" }, timezone: "Europe/Berlin" },
      })
      assert.match(created.id, /^sub_/)
      assert.deepStrictEqual(created.body, {
        object: "subscription",
        id: created.id,
        customer_id: customer,
        phase: "active",
        plan: { key: "pro", version: 1 },
        currency: "EUR",
        quantities: { seats: "3" },
        pending: null,
        anchor: "2026-11-21T10:30:00.000",
        timezone: "Europe/Berlin",
        start_at: ApiServer.NOW,
        trial_end_at: null,
        activated_at: ApiServer.NOW,
        current_period_start: ApiServer.NOW,
        current_period_end: "2026-12-21T09:30:00.000Z",
        paused_at: null,
        resumes_at: null,
        canceled_at: null,
        ends_at: null,
        ended_at: null,
        next_at: "2026-12-21T09:30:00.000Z",
        failure: null,
        past_due_since: null,
        available_actions: ["change", "pause", "cancel"],
        invoice_group: null,
        metadata: { order: "4711" },
        sequence: 2,
        livemode: false,
        created_at: ApiServer.NOW,
        updated_at: ApiServer.NOW,
      })
      const path = `/v1/subscriptions/${created.id}`
      assert.deepStrictEqual((yield* api.expect(200, "GET", path)).body, created.body)
      const other = yield* api.newCustomer()
      const later = yield* api.expect(201, "POST", "/v1/subscriptions", {
        json: { ...ordered, customer_id: other, start_at: "2027-01-01T00:00:00+01:00", trial: { days: 14 } },
      })
      assert.strictEqual(later.at("phase"), "scheduled")
      assert.strictEqual(later.at("trial_end_at"), "2027-01-14T23:00:00.000Z")
      const until = yield* api.expect(201, "POST", "/v1/subscriptions", {
        json: { ...ordered, trial: { end_at: "2026-12-01T00:00:00Z" } },
      })
      assert.strictEqual(until.at("phase"), "trialing")
      const idsOf = (query: string) =>
        Effect.map(api.expect(200, "GET", `/v1/subscriptions${query}`), ({ ids }) => ids)
      assert.deepStrictEqual(yield* idsOf(""), [until.id, later.id, created.id])
      assert.deepStrictEqual(yield* idsOf(`?customer_id=${customer}`), [until.id, created.id])
      assert.deepStrictEqual(yield* idsOf("?phase=scheduled"), [later.id])
      assert.deepStrictEqual(yield* idsOf(`?limit=1&starting_after=${until.id}`), [later.id])
      assert.deepStrictEqual(yield* idsOf(`?limit=1&ending_before=${created.id}`), [later.id])
    }),
  )

  it.effect("are changed, canceled, uncanceled, paused and resumed", () =>
    Effect.gen(function* () {
      const { api, ordered } = yield* begin()
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      const post = (command: string, json?: object) =>
        api.expect(200, "POST", `/v1/subscriptions/${id}/${command}`, json === undefined ? {} : { json })

      const fewer = yield* post("change", { quantities: { seats: "2" } })
      assert.deepStrictEqual(fewer.at("pending"), {
        plan: null,
        quantities: { seats: "2" },
        at: "period_end",
        bill: "now",
      })
      const onDate = yield* post("change", { quantities: { seats: "4" }, at: "2026-12-01T01:00:00+01:00" })
      assert.strictEqual(onDate.at("pending", "at"), "2026-12-01T00:00:00.000Z")
      const more = yield* post("change", { quantities: { seats: "5" }, at: "now" })
      assert.deepStrictEqual(more.at("quantities"), { seats: "5" })

      const canceled = yield* post("cancel", { at: "period_end" })
      assert.deepStrictEqual(
        [canceled.at("ends_at"), canceled.at("canceled_at")],
        ["2026-12-21T09:30:00.000Z", ApiServer.NOW],
      )
      assert.include(canceled.at("available_actions"), "uncancel")
      assert.isNull((yield* post("uncancel")).at("ends_at"))

      const paused = yield* post("pause", { resume_at: "2026-12-01T00:00:00Z", credit: "none" })
      assert.deepStrictEqual(
        [paused.at("phase"), paused.at("paused_at"), paused.at("resumes_at")],
        ["paused", ApiServer.NOW, "2026-12-01T00:00:00.000Z"],
      )
      assert.strictEqual((yield* post("resume", {})).at("phase"), "active")
      yield* post("pause")
      assert.strictEqual((yield* post("resume", { anchor: "now" })).at("phase"), "active")
      const ended = yield* post("cancel", { at: "now", credit: "prorate" })
      assert.deepStrictEqual([ended.at("phase"), ended.at("available_actions")], ["ended", []])
      const events = yield* api.expect(200, "GET", "/v1/events?type=subscription.ended")
      assert.strictEqual(events.at("data", 0, "data", "subscription", "id"), id)
    }),
  )

  it.effect("are reconciled", () =>
    Effect.gen(function* () {
      const { api, ordered } = yield* begin()
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      const path = `/v1/subscriptions/${id}/reconcile`
      const answer = yield* api.expect(200, "POST", path)
      assert.deepStrictEqual(answer.body, { object: "reconciliation", subscription_id: id, invoice: null })
      yield* api.expect(404, "POST", `/v1/subscriptions/${ApiServer.UNKNOWN.subscription}/reconcile`)
    }),
  )

  it.effect("say why a command is not possible, and stay as they are", () =>
    Effect.gen(function* () {
      const { api, ordered } = yield* begin()
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      const before = (yield* api.expect(200, "GET", `/v1/subscriptions/${id}`)).text
      for (const [command, message] of [
        ["uncancel", `${id}: uncancel is not possible: no end is set`],
        ["resume", `${id}: resume is not possible while active: the subscription must be paused`],
      ] as const) {
        const refused = yield* api.expect(409, "POST", `/v1/subscriptions/${id}/${command}`)
        assert.deepStrictEqual(refused.body, { error: "conflict", message })
      }
      assert.strictEqual((yield* api.expect(200, "GET", `/v1/subscriptions/${id}`)).text, before)
    }),
  )

  it.effect("name every wrong field as it was sent", () =>
    Effect.gen(function* () {
      const { api, ordered } = yield* begin()
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      const seats =
        "quantities.seats must be a decimal in a string, at most 18 digits before and 12 after the point"
      for (const [path, json, message] of [
        ["", {}, "customer_id is required"],
        [
          "",
          { ...ordered, customer_id: "me" },
          "customer_id must be an id that starts with cus_, with 26 lower-case letters and digits after it",
        ],
        ["", { ...ordered, startAt: ApiServer.NOW }, "startAt is not a known field"],
        [
          "",
          { ...ordered, start_at: "today" },
          "start_at must be an RFC 3339 instant with an offset, such as 2026-11-21T09:30:00Z",
        ],
        ["", { ...ordered, trial: {} }, "trial must be null, or have either days or end_at"],
        ["", { ...ordered, trial: { days: 0 } }, "trial.days must be an integer from 1 to 730"],
        [
          "",
          { ...ordered, trial: { end_at: "2026-11-01T00:00:00Z" } },
          "trial.end_at must be after the start",
        ],
        ["", { ...ordered, quantities: { seats: "many" } }, seats],
        [
          "",
          { ...ordered, quantities: { seats: 2.5 } },
          'quantities.seats must be a decimal in a string, such as "2.5", or an integer',
        ],
        ["", { ...ordered, quantities: {} }, 'quantities.seats is required: the charge "seats" uses it'],
        [
          "",
          { ...ordered, quantities: { seats: "1", perRegion: "2" } },
          "quantities.perRegion is not a quantity of the plan",
        ],
        [
          "",
          { ...ordered, currency: "USD", timezone: "Mars" },
          "currency must be a currency of the plan: EUR (and 1 more)",
        ],
        [`/${id}/change`, {}, "plan is required (or quantities): a change needs one of them"],
        [
          `/${id}/change`,
          { plan: "pro" },
          "at is required for a change of plan: now, period_end or an instant",
        ],
        [`/${id}/change`, { version: 1 }, "version must be left out: it needs a plan"],
        [`/${id}/cancel`, {}, "at is required"],
        [
          `/${id}/cancel`,
          { at: "tomorrow" },
          "at must be now, period_end or an RFC 3339 instant with an offset",
        ],
        [`/${id}/cancel`, { at: "2026-11-01T00:00:00Z" }, "at must not be in the past"],
        [`/${id}/pause`, { resume_at: "2026-11-01T00:00:00Z" }, "resume_at must be in the future"],
        [`/${id}/resume`, { anchor: "then" }, 'anchor must be "keep" | "now"'],
      ] as const) {
        const refused = yield* api.expect(400, "POST", `/v1/subscriptions${path}`, { json })
        assert.strictEqual(refused.message, message)
      }
      for (const [fields, message] of [
        [
          { customer_id: ApiServer.UNKNOWN.customer },
          `customer_id: no customer has the id ${ApiServer.UNKNOWN.customer}`,
        ],
        [{ plan: "gold" }, "plan: no plan has the key gold"],
        [{ plan: "a\0b" }, "plan: no plan has the key a\0b"],
        [{ version: 2 }, "version: the plan pro has no version 2"],
      ] as const) {
        const refused = yield* api.expect(404, "POST", "/v1/subscriptions", {
          json: { ...ordered, ...fields },
        })
        assert.strictEqual(refused.message, message)
      }
      assert.lengthOf((yield* api.expect(200, "GET", "/v1/subscriptions")).ids, 1)
    }),
  )

  it.effect("are created once for an idempotency key", () =>
    Effect.gen(function* () {
      const { api, ordered } = yield* begin()
      const headers = { "idempotency-key": "order-4711" }
      const first = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered, headers })
      yield* TestClock.adjust("1 hour")
      const again = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered, headers })
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
      const other = { ...ordered, quantities: { seats: "4" } }
      yield* api.expect(422, "POST", "/v1/subscriptions", { json: other, headers })
      assert.deepStrictEqual((yield* api.expect(200, "GET", "/v1/subscriptions")).ids, [first.id])
    }),
  )
})

describe("invoices", () => {
  it.effect("of an invoice group bill several subscriptions, and are found by each of them", () =>
    Effect.gen(function* () {
      const { api, ordered, runDue } = yield* begin()
      const made = (group: unknown, status = 201) =>
        api.expect(status, "POST", "/v1/subscriptions", { json: { ...ordered, invoice_group: group } })
      const [first, second] = [yield* made("all"), yield* made("all")]
      yield* made(null)
      assert.strictEqual(first.at("invoice_group"), "all")
      assert.match((yield* made("", 400)).message, /^invoice_group /u)
      const grouped = yield* api.expect(200, "GET", "/v1/subscriptions?invoice_group=all")
      assert.deepStrictEqual(grouped.ids, [second.id, first.id])
      yield* TestClock.setTime(Date.parse("2026-12-21T09:30:00.000Z"))
      yield* runDue
      for (const { id } of [first, second]) {
        const found = yield* api.expect(200, "GET", `/v1/invoices?subscription_id=${id}&limit=1`)
        assert.isNull(found.at("data", 0, "subscription_id"))
        assert.deepStrictEqual(found.at("data", 0, "subscription_ids"), [first.id, second.id])
        assert.strictEqual(found.at("data", 0, "lines", 0, "subscription_id"), first.id)
      }
    }),
  )

  it.effect("follow usage as drafts, are issued, voided and written off", () =>
    Effect.gen(function* () {
      const { api, customer, ordered, runDue } = yield* begin()
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      const drafts = yield* api.expect(200, "GET", `/v1/invoices?subscription_id=${id}&status=draft`)
      const draft = drafts.ids[0]!
      assert.deepInclude(drafts.at("data", 0), {
        object: "invoice",
        number: null,
        status: "draft",
        customer_id: customer,
        subscription_id: id,
        subscription_ids: [id],
        total: 3500,
        finalizes_at: ApiServer.NOW,
        available_actions: ["finalize"],
      })
      const refused = yield* api.expect(409, "POST", `/v1/invoices/${draft}/void`)
      assert.strictEqual(refused.message, `${draft}: void is not possible: the invoice is draft`)
      yield* runDue
      const open = yield* api.expect(200, "GET", `/v1/invoices/${draft}`)
      assert.deepInclude(open.body as object, {
        number: "2026-0001",
        status: "open",
        issued_at: ApiServer.NOW,
        due_at: "2026-12-05T23:59:59.999Z",
        finalizes_at: null,
        amount_due: 3500,
      })

      yield* TestClock.adjust("1 day")
      yield* api.record(customer, { quantity: 250 })
      yield* TestClock.setTime(Date.parse("2026-12-21T09:30:00.000Z"))
      yield* runDue
      const second = yield* api.expect(200, "GET", `/v1/invoices?customer_id=${customer}&limit=1`)
      assert.isTrue(second.at("has_more"))
      assert.deepStrictEqual(second.at("data", 0, "lines", 0), {
        id: "0.0.calls",
        kind: "usage",
        charge: "calls",
        subscription_id: id,
        description: "calls",
        plan: { key: "pro", version: 1 },
        group: null,
        burns: null,
        period_start: ApiServer.NOW,
        period_end: "2026-12-21T09:30:00.000Z",
        quantity: "250",
        amount: 250,
        discount: 0,
        net: 250,
        tax: { category: "O", rate: "0", country: null, reason: "Not subject to tax" },
        credit_of: null,
        steps: [
          { type: "aggregate", quantity: "250" },
          { type: "unit", quantity: "250", price: "0.01", amount: "2.5" },
          { type: "round", digits: 2, amount: "2.5" },
        ],
        receipt: {
          meter: "calls",
          where: {},
          period_start: ApiServer.NOW,
          period_end: "2026-12-21T09:30:00.000Z",
          total: "250",
          record_count: 1,
        },
      })
      assert.strictEqual(second.at("data", 0, "total"), 3750)

      const voided = yield* api.expect(200, "POST", `/v1/invoices/${draft}/void`)
      assert.deepInclude(voided.body as object, { status: "void", number: "2026-0001", amount_due: 0 })
      yield* TestClock.adjust("1 hour")
      yield* runDue
      const newest = second.ids[0]!
      const lost = yield* api.expect(200, "POST", `/v1/invoices/${newest}/mark_uncollectible`)
      assert.deepInclude(lost.body as object, { status: "uncollectible", amount_due: 3750 })
      assert.deepStrictEqual((yield* api.expect(200, "GET", "/v1/invoices?status=void")).ids, [draft])
      const again = yield* api.expect(409, "POST", `/v1/invoices/${newest}/mark_uncollectible`)
      assert.strictEqual(
        again.message,
        `${newest}: mark_uncollectible is not possible: the invoice is uncollectible`,
      )
    }),
  )

  it.effect("are not found by another tenant, and need their own scopes", () =>
    Effect.gen(function* () {
      const { api, ordered, runDue } = yield* begin()
      const { id } = yield* api.expect(201, "POST", "/v1/subscriptions", { json: ordered })
      yield* runDue
      const invoice = (yield* api.expect(200, "GET", "/v1/invoices")).ids[0]!
      for (const key of [api.liveKey, (yield* api.issue({ account: "other" })).secret]) {
        for (const path of [`/v1/subscriptions/${id}`, `/v1/invoices/${invoice}`]) {
          yield* api.expect(404, "GET", path, { key })
        }
        yield* api.expect(404, "POST", `/v1/invoices/${invoice}/void`, { key })
        yield* api.expect(404, "POST", `/v1/subscriptions/${id}/cancel`, { key, json: { at: "now" } })
        for (const path of ["/v1/subscriptions", "/v1/invoices"]) {
          assert.deepStrictEqual((yield* api.expect(200, "GET", path, { key })).ids, [])
        }
      }
      const reader = (yield* api.issue({ scopes: ["subscriptions:read", "invoices:read"] })).secret
      yield* api.expect(200, "GET", `/v1/invoices/${invoice}`, { key: reader })
      const refused = yield* api.expect(403, "POST", `/v1/invoices/${invoice}/void`, { key: reader })
      assert.strictEqual(refused.message, "the API key lacks the scope invoices:write")
      yield* api.expect(403, "POST", "/v1/subscriptions", { key: reader, json: ordered })
      assert.strictEqual((yield* api.expect(200, "GET", `/v1/invoices/${invoice}`)).at("status"), "open")
    }),
  )
})

describe("a storage without subscriptions and invoices", () => {
  it.effect("answers their operations with a conflict that says so, and all others as ever", () =>
    Effect.gen(function* () {
      const storage = Layer.effectContext(
        Effect.map(Effect.context<Layer.Success<ApiServer.Storage>>(), (context) =>
          Context.omit(SubscriptionStore, InvoiceStore)(context),
        ),
      ).pipe(Layer.provide(Memory.layer))
      const api = yield* ApiServer.start({ storage: storage as ApiServer.Storage })
      const customer_id = yield* api.newCustomer()
      for (const [method, path, json] of [
        ["POST", "/v1/subscriptions", { customer_id, plan: "pro" }],
        ["GET", "/v1/subscriptions", undefined],
        ["GET", `/v1/invoices/${ApiServer.UNKNOWN.invoice}`, undefined],
        ["POST", `/v1/invoices/${ApiServer.UNKNOWN.invoice}/void`, undefined],
      ] as const) {
        const refused = yield* api.expect(409, method, path, json === undefined ? {} : { json })
        assert.match(refused.message, /^the storage has no subscriptions and invoices/)
      }
    }),
  )
})
