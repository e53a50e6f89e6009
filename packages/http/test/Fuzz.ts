/**
 * Sends generated requests to every operation. Each answer is checked against the document (`ApiServer`): its status is
 * documented, its body matches the schema, errors have exactly two fields, and there is a Request-Id.
 */
import { BillingRuns, FakeProvider } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import * as ApiServer from "./ApiServer.ts"
import { EXAMPLE_PLAN, METER, type GeneratedRequest, requestTo } from "./Generate.ts"
import { node, operationsOf } from "./Judge.ts"

/** A repeatable run. Its seed is printed with a counterexample. */
export const fuzz = Effect.fnUntraced(function* (seed: number, runsPerOperation: number) {
  const api = yield* ApiServer.start({ billing: { payments: new FakeProvider({ hasMethods: true }) } })
  const document = node((yield* api.expect(200, "GET", "/openapi.json")).body)
  const pools: Readonly<Record<string, Array<string>>> = {
    cus: [],
    clk: [],
    itm: [],
    usg: [],
    thr: [],
    cpn: [],
    crn: [],
    cgr: [],
    cen: [],
    hld: [],
    pay: [],
    mtd: [],
    ref: [],
    dis: [],
    prf: [],
    red: [],
    atu: [],
    cal: [],
    ctu: [],
    tku: [],
    rtc: [],
    spa: [],
    chk: [],
    mig: [],
    evt: [],
    dlv: [],
    whe: [],
    pln: [],
    plv: [],
    key: [],
    mtr: [],
    sub: [],
    inv: [],
  }
  const remember = (id: unknown): void => {
    if (typeof id === "string") pools[id.slice(0, 3)]?.push(id)
  }

  /** Makes an endpoint, in the place of an old one when there are many: an account has at most 500. */
  const renewEndpoint = Effect.gen(function* () {
    const [oldest] = pools["whe"] ?? []
    if (oldest !== undefined && pools["whe"]!.length > MAX_ENDPOINTS) {
      pools["whe"]!.shift()
      yield* api.call("DELETE", `/v1/webhook_endpoints/${oldest}`)
    }
    remember((yield* api.newEndpoint()).id)
  })

  /** Every pool has an id of something that exists. */
  const refill = Effect.gen(function* () {
    const customer = yield* api.newCustomer()
    remember(customer)
    remember((yield* api.record(customer, { quantity: 3 })).id)
    const json = { customer_id: customer, product_id: "api", unit: "call", quantity: 5, period: "day" }
    remember((yield* api.expect(201, "POST", "/v1/usage/thresholds", { json })).id)
    const meter = { key: `m_${customer.slice(4)}`, product_id: "api", unit: customer }
    remember((yield* api.expect(201, "POST", "/v1/meters", { json: meter })).id)
    const coupon = {
      code: `C-${customer.slice(-30).toUpperCase()}`,
      name: "Half",
      percent: "50",
      duration: "once",
    }
    remember((yield* api.expect(201, "POST", "/v1/coupons", { json: coupon })).id)
    const card = { key: "llm", unit: "token", models: { large: { input: "2.00" } } }
    yield* api.expect(200, "POST", "/v1/catalog/push", { json: { rate_cards: [card] } })
    remember((yield* api.expect(200, "GET", "/v1/rate_cards", { query: { limit: "1" } })).at("data", 0, "id"))
    const account = { customer_id: customer, unit: "token" }
    const credits = { ...account, kind: "paid", amount: 1_000 }
    remember((yield* api.expect(201, "POST", "/v1/credit_grants", { json: credits })).id)
    const held = { ...account, amount: 10 }
    remember((yield* api.expect(201, "POST", "/v1/holds", { json: held })).id)
    const entries = yield* api.expect(200, "GET", `/v1/credit_entries?customer_id=${customer}`)
    remember(entries.at("data", 0, "id"))
    const method = { customer_id: customer }
    remember((yield* api.expect(201, "POST", "/v1/payment_methods", { json: method })).id)
    const item = { customer_id: customer, currency: "EUR", amount: 100, description: "Set-up" }
    remember((yield* api.expect(201, "POST", "/v1/invoice_items", { json: item })).id)
    const alert = { customer_id: customer, currency: "EUR", amount: 10_000 }
    remember((yield* api.expect(201, "POST", "/v1/spend_alerts", { json: alert })).id)
    const watching = { customer_id: customer, unit: "token", level: 100 }
    remember((yield* api.expect(201, "POST", "/v1/credit_alerts", { json: watching })).id)
    const bought = { customer_id: customer, unit: "token", amount: 100, currency: "EUR", price: 5 }
    remember((yield* api.expect(201, "POST", "/v1/top_ups", { json: bought })).id)
    const used = { customer_id: customer, rate_card: "llm", model: "unknown", tokens: { input: 5 } }
    remember((yield* api.expect(201, "POST", "/v1/token_usages", { json: used })).id)
    const refilled = { ...bought, level: 10 }
    remember((yield* api.expect(201, "POST", "/v1/auto_top_ups", { json: refilled })).id)
    remember((yield* api.expect(201, "POST", "/v1/test_clocks", { json: {} })).id)
    yield* renewEndpoint
    const key = `key_${customer.slice(4)}`
    yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [{ ...EXAMPLE_PLAN, key }] } })
    remember(key)
    remember((yield* api.expect(200, "GET", `/v1/plans/${key}`)).at("id"))
    remember((yield* api.expect(200, "GET", `/v1/plans/${key}/versions`)).at("data", 0, "id"))
    const event = yield* api.publish()
    remember(event)
    remember((yield* api.expect(200, "GET", `/v1/events/${event}`)).at("deliveries", 0, "id"))
  })

  /** A subscription of a new customer that is canceled or paused, so that it allows any command or almost any. */
  const resubscribe = Effect.fnUntraced(function* (end: "cancel" | "pause", isMigrating: boolean) {
    const json = { customer_id: yield* api.newCustomer(), plan: "pro" }
    const subscription = yield* api.expect(201, "POST", "/v1/subscriptions", { json })
    remember(subscription.id)
    const coupon = {
      code: `S-${subscription.id.slice(-26).toUpperCase()}`,
      name: "Half",
      percent: "50",
      duration: "once",
    }
    yield* api.expect(201, "POST", "/v1/coupons", { json: coupon })
    // Each one looks at all subscriptions of the plan.
    if (isMigrating) {
      remember((yield* api.expect(201, "POST", "/v1/book_checks", { json: {} })).id)
      const migration = { plan: "pro", to_version: 1, at: "period_end" }
      remember((yield* api.expect(201, "POST", "/v1/plan_migrations", { json: migration })).id)
    }
    const redeemed = { coupon: coupon.code, subscription_id: subscription.id }
    remember((yield* api.expect(201, "POST", "/v1/redemptions", { json: redeemed })).id)
    const at = end === "cancel" ? { at: "period_end" } : {}
    yield* api.expect(200, "POST", `/v1/subscriptions/${subscription.id}/${end}`, { json: at })
    yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
    const query = { subscription_id: subscription.id }
    remember((yield* api.expect(200, "GET", "/v1/invoices", { query })).at("data", 0, "id"))
  })

  /** A draft without a subscription. */
  const draft = Effect.gen(function* () {
    const lines = [{ description: "Work", amount: 100 }]
    const json = { customer_id: yield* api.newCustomer(), currency: "EUR", lines }
    remember((yield* api.expect(201, "POST", "/v1/invoices", { json })).id)
  })

  const fill = (template: string): string =>
    template.replaceAll(
      /@(cus|clk|cpn|itm|crn|cgr|cen|hld|pay|mtd|ref|dis|prf|red|atu|ctu|tku|cal|spa|rtc|usg|thr|mtr|evt|dlv|whe|pln|plv|chk|mig|sub|inv|key):(\d+)/g,
      (_, prefix: string, n: string) => {
        const pool = pools[prefix] ?? []
        // The latest ones, because they are not yet deleted.
        return pool[pool.length - 1 - (Number(n) % Math.min(3, pool.length))] ?? ""
      },
    )

  yield* api.expect(201, "POST", "/v1/meters", { json: METER })
  const json = { key: "api_calls", product_id: "calls", unit: "call" }
  yield* api.expect(201, "POST", "/v1/meters", { json })

  const seen = new Map<string, Set<string>>()

  const run = Effect.fnUntraced(function* (request: GeneratedRequest) {
    if (request.operation.method === "DELETE" || pools["cus"]?.length === 0) yield* refill
    const { id: operation } = request.operation
    if (DRAFTED.has(operation)) yield* draft
    else if (operation !== "createInvoice" && /Subscription$|Invoice|PlanMigration/.test(operation)) {
      yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [EXAMPLE_PLAN] } })
      const end = operation === "resumeSubscription" ? "pause" : "cancel"
      yield* resubscribe(end, operation.includes("PlanMigration"))
    }
    const query = request.query
      .map(
        ([name, value]) =>
          `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(fill(value).toWellFormed())}`,
      )
      .join("&")
    const path = fill(request.path)
    const answer = yield* api.call(request.method, query === "" ? path : `${path}?${query}`, {
      ...(request.body === undefined ? {} : { body: fill(request.body) }),
      headers: request.headers,
      ...(request.hasKey ? {} : { key: null }),
    })
    assert.isBelow(answer.status, 500, answer.text)
    const statuses = seen.get(request.operation.id) ?? new Set()
    seen.set(request.operation.id, statuses.add(`${request.mutation}: ${answer.status}`))
    if (answer.status === 201) remember(answer.at("id"))
    if (request.mutation === "no key") {
      // A provider signs what it sends, instead of a key, and only one that is there is received.
      const withoutKey = request.operation.id === "receiveProviderNotice" ? [400, 404] : [200]
      assert.oneOf(answer.status, request.path.startsWith("/v1/") ? [401] : withoutKey)
    }
    return answer
  })

  const context = yield* Effect.context<never>()
  for (const [index, operation] of operationsOf(document).entries()) {
    const property = fc.asyncProperty(requestTo(document, operation), async (request) => {
      await Effect.runPromiseWith(context)(Effect.asVoid(run(request)))
    })
    // With one seed for all, each would get the same few kinds of wrong requests.
    yield* Effect.promise(() => fc.assert(property, { seed: seed + index, numRuns: runsPerOperation }))
  }
  return seen
})

/** Most endpoints that are kept. */
const MAX_ENDPOINTS = 100

/** They need a draft without a subscription. */
const DRAFTED = new Set(["deleteInvoice", "finalizeInvoice"])

type Seen = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Chance rarely makes a valid request of these: their fields have rules between them that the document can't say, or they
 * need something in a certain state. They succeed in `Isolation.test.ts`, or where it is said.
 */
const RULED = new Set([
  "advanceTestClock",
  "cancelPayment",
  // An amount, or tokens by a rate card in the unit of the hold.
  "commitHold",
  "consumeCredits",
  "createAutoTopUp",
  "createCoupon",
  "createCreditNote",
  "createInvoice",
  "createInvoiceItem",
  "createPlanMigration",
  "createRedemption",
  "createRefund",
  "createSpendAlert",
  "createTokenUsage",
  "createTopUp",
  // No operation answers with the id of a record that it makes.
  "getAuditRecord",
  "getCreditNote",
  "getCreditNoteHtml",
  // Only with a seller, and an issued invoice: `packages/billwright/test/Documents.test.ts`.
  "getCreditNoteCii",
  "getCreditNoteFacturX",
  "getCreditNoteUbl",
  "getInvoiceCii",
  "getInvoiceFacturX",
  "getInvoiceUbl",
  // Only with the maker of PDF: `packages/billwright/test/Documents.test.ts`.
  "getCreditNotePdf",
  // Only a provider makes disputes: `ProviderNotices.test.ts`.
  "getDispute",
  "getInvoicePdf",
  // Only with a key that signs proofs: `packages/billwright/test/Proofs.test.ts`.
  "getInvoiceProof",
  "getRefund",
  "grantCredits",
  "listInvoiceLineRecords",
  // As `getInvoiceProof`: there is no proof whose id or hash a query could name.
  "listInvoiceProofs",
  "payInvoice",
  "previewSubscription",
  "rateTokenUsage",
  // Only with a signature of the provider: `ProviderNotices.test.ts`.
  "receiveProviderNotice",
  // As `getRefund`.
  "refreshRefund",
  "releaseHold",
  "reserveCredits",
  "resolveRefund",
  "startInvoicePayment",
  // As `createAutoTopUp`.
  "updateAutoTopUp",
])

/** Checks that every operation has succeeded at least once in a long run. */
export const assertSuccesses = (seen: Seen): void => {
  const never = [...seen].filter(
    ([id, outcomes]) => !RULED.has(id) && ![...outcomes].some((outcome) => /^valid: 20[01]$/.test(outcome)),
  )
  assert.deepStrictEqual(
    never.map(([id, outcomes]) => `${id}: ${[...outcomes].join(", ")}`),
    [],
  )
}

/** Checks that the run had successes and each kind of refusal. */
export const assertStatuses = (seen: Seen): void => {
  const statuses = [...seen.values()].flatMap((outcomes) => [...outcomes].map((outcome) => outcome.slice(-3)))
  for (const status of ["200", "201", "400", "401", "404", "405", "413", "415"])
    assert.include(statuses, status)
}
