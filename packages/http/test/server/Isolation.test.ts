/**
 * Accounts and modes are isolated. Requests are made from the OpenAPI document, so later operations and places for ids are
 * tested automatically. The test fails for an operation that it doesn't understand.
 */
import { BillingRuns, FakeProvider, generateKey } from "@billwright/core"
import { makeOpenApiDocument } from "@billwright/http/api"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"
import { type DocumentedOperation, type Node, operationsOf } from "../Judge.ts"
import { type Place, placesOf, requestWith } from "../Places.ts"

const document = makeOpenApiDocument() as Node
const operations = operationsOf(document).filter(({ path }) => path.startsWith("/v1/"))
const ANY_ID = /[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}/g

/** Live endpoints need an encryption key for their secrets. */
const billing = {
  encryption: generateKey("k1"),
  payments: new FakeProvider({ hasMethods: true }),
  // E-invoices need both sides.
  invoices: { seller: { name: "Nordlicht", country: "DE", registration: "HRB 1" } },
  pdf: (document: object) => Promise.resolve(new TextEncoder().encode(JSON.stringify(document))),
}

/** The data of a tenant: one of each kind, by the prefix of its id. */
type Things = Readonly<Record<string, string>>

const customerSuffix = (id: string): string => id.slice("cus_".length)

const PLAN_TERMS = {
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
}

const SEATS = { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } }

/** A command of the subscription without which an operation is refused. */
const BEFORE: Readonly<Record<string, { readonly command: string; readonly json: object }>> = {
  resumeSubscription: { command: "pause", json: {} },
  deleteCustomer: { command: "cancel", json: { at: "now" } },
}

/** They are for drafts without a subscription. */
const OF_DRAFTS = new Set(["deleteInvoice", "finalizeInvoice"])

/** Text that only the data of the owner contains. */
const MARK = "Ada of the one account"

const populate = Effect.fnUntraced(function* (api: ApiServer.Api, key: string, name: string) {
  const own = { key }
  const cus = yield* api.newCustomer({ name, country: "DE", metadata: { name } }, own)
  const meter = { customer_id: cus, product_id: "api", unit: "call" }
  const usg = (yield* api.record(cus, {}, own)).id
  const json = { ...meter, quantity: 100, period: "day" }
  const thr = (yield* api.expect(201, "POST", "/v1/usage/thresholds", { ...own, json })).id
  // Each has a product of its own, because a product and unit may have only a few meters.
  const declared = { key: `k_${customerSuffix(cus)}`, name, product_id: cus, unit: "call" }
  const mtr = (yield* api.expect(201, "POST", "/v1/meters", { ...own, json: declared })).id
  const endpoint = { url: "https://example.com/hooks", description: name }
  const whe = (yield* api.newEndpoint(endpoint, own)).id
  const evt = yield* api.publish({ customer_id: cus }, own)
  // A plan whose key is as long as an id, so that it can stand where one can.
  const keyOfPlan = `key_${customerSuffix(cus)}`
  const plan = { key: keyOfPlan, name, ...PLAN_TERMS }
  yield* api.expect(200, "POST", "/v1/catalog/push", { ...own, json: { plans: [plan] } })
  const pln = String((yield* api.expect(200, "GET", `/v1/plans/${keyOfPlan}`, own)).at("id"))
  const versions = yield* api.expect(200, "GET", `/v1/plans/${keyOfPlan}/versions`, own)
  const plv = String(versions.at("data", 0, "id"))
  const pro = { key: "pro", name, ...PLAN_TERMS, charges: [...PLAN_TERMS.charges, SEATS] }
  for (const version of [{ ...pro, charges: PLAN_TERMS.charges }, pro]) {
    yield* api.expect(200, "POST", "/v1/catalog/push", { ...own, json: { plans: [version] } })
  }
  const migration = { plan: "pro", from_version: 1, to_version: 2, at: "period_end" }
  const mig = (yield* api.expect(201, "POST", "/v1/plan_migrations", { ...own, json: migration })).id
  const ordered = { customer_id: cus, plan: "pro", quantities: { seats: "5" }, metadata: { name } }
  const sub = (yield* api.expect(201, "POST", "/v1/subscriptions", { ...own, json: ordered })).id
  const half = { code: `C-${customerSuffix(cus).toUpperCase()}`, name, percent: "50", duration: "once" }
  const cpn = (yield* api.expect(201, "POST", "/v1/coupons", { ...own, json: half })).id
  // The coupon of the example. It may be there already.
  const partners = { code: "PARTNER10", name, percent: "10", duration: "forever" }
  yield* api.call("POST", "/v1/coupons", { ...own, json: partners })
  const redeemed = { coupon: half.code, subscription_id: sub }
  const red = (yield* api.expect(201, "POST", "/v1/redemptions", { ...own, json: redeemed })).id
  const canceled = { ...own, json: { at: "period_end" } }
  yield* api.expect(200, "POST", `/v1/subscriptions/${sub}/cancel`, canceled)
  yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
  const invoices = yield* api.expect(200, "GET", `/v1/invoices?subscription_id=${sub}&status=open`, own)
  const inv = String(invoices.at("data", 0, "id"))
  // An invoice with a credit note can't be voided, so the note is of another one.
  const other = (yield* api.expect(201, "POST", "/v1/subscriptions", { ...own, json: ordered })).id
  const ended = { ...own, json: { at: "now", credit: "none" } }
  yield* api.expect(200, "POST", `/v1/subscriptions/${other}/cancel`, ended)
  yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
  const others = yield* api.expect(200, "GET", `/v1/invoices?subscription_id=${other}&status=open`, own)
  const returned = { invoice_id: String(others.at("data", 0, "id")), amount: 1, reason: "other" }
  const crn = (yield* api.expect(201, "POST", "/v1/credit_notes", { ...own, json: returned })).id
  const received = { invoice_id: returned.invoice_id, amount: 1_200, reference: name }
  const pay = (yield* api.expect(201, "POST", "/v1/payments", { ...own, json: received })).id
  const refunded = { payment_id: pay, amount: 1, reason: "other" }
  const ref = (yield* api.expect(201, "POST", "/v1/refunds", { ...own, json: refunded })).id
  const account = { customer_id: cus, unit: "token" }
  const credits = { ...account, kind: "paid", amount: 100_000, idempotency_key: name }
  const cgr = (yield* api.expect(201, "POST", "/v1/credit_grants", { ...own, json: credits })).id
  const kept = { ...account, amount: 10_000, idempotency_key: name }
  const hld = (yield* api.expect(201, "POST", "/v1/holds", { ...own, json: kept })).id
  const entries = yield* api.expect(200, "GET", `/v1/credit_entries?customer_id=${cus}`, own)
  const cen = String(entries.at("data", 0, "id"))
  const mtd = (yield* api.expect(201, "POST", "/v1/payment_methods", { ...own, json: { customer_id: cus } }))
    .id
  const bought = { customer_id: cus, unit: "token", amount: 10, currency: "EUR", price: 5 }
  const ctu = (yield* api.expect(201, "POST", "/v1/top_ups", { ...own, json: bought })).id
  // So much that it buys nothing by itself.
  const messages = { customer_id: cus, unit: "message", kind: "paid", amount: 100 }
  yield* api.expect(201, "POST", "/v1/credit_grants", { ...own, json: messages })
  const refilled = { ...bought, unit: "message", level: 10 }
  const atu = (yield* api.expect(201, "POST", "/v1/auto_top_ups", { ...own, json: refilled })).id
  const chk = (yield* api.expect(201, "POST", "/v1/book_checks", { ...own, json: {} })).id
  // What a provider still has to do about these payments is done before anybody looks.
  yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
  // Not on an invoice yet, so that it can be deleted.
  const item = { customer_id: cus, currency: "EUR", amount: 100, description: name }
  const itm = (yield* api.expect(201, "POST", "/v1/invoice_items", { ...own, json: item })).id
  const low = { customer_id: cus, unit: "token", level: 10 }
  const cal = (yield* api.expect(201, "POST", "/v1/credit_alerts", { ...own, json: low })).id
  const watching = { customer_id: cus, subscription_id: sub, currency: "EUR", amount: 10_000 }
  const spa = (yield* api.expect(201, "POST", "/v1/spend_alerts", { ...own, json: watching })).id
  const card = { key: "llm", name, unit: "token", models: { large: { input: "2.00" } } }
  yield* api.expect(200, "POST", "/v1/catalog/push", { ...own, json: { rate_cards: [card] } })
  const cards = yield* api.expect(200, "GET", "/v1/rate_cards", own)
  const used = { customer_id: cus, rate_card: "llm", model: "unknown", tokens: { input: 5 } }
  const tku = (yield* api.expect(201, "POST", "/v1/token_usages", { ...own, json: used })).id
  const rtc = String(cards.at("data", 0, "id"))
  const dlv = String((yield* api.expect(200, "GET", `/v1/events/${evt}`, own)).at("deliveries", 0, "id"))
  // Only in test mode.
  const clock = yield* api.call("POST", "/v1/test_clocks", { ...own, json: { name } })
  const clk = clock.status === 201 ? clock.id : ApiServer.UNKNOWN.testClock
  const aud = String((yield* api.expect(200, "GET", "/v1/audit_log", own)).at("data", 0, "id"))
  const things: Things = {
    aud,
    cus,
    chk,
    clk,
    cpn,
    rtc,
    crn,
    pay,
    ref,
    // Only a payment provider makes one.
    dis: ApiServer.UNKNOWN.dispute,
    prf: ApiServer.UNKNOWN.invoiceProof,
    cgr,
    cen,
    hld,
    mtd,
    itm,
    red,
    atu,
    ctu,
    tku,
    cal,
    spa,
    usg,
    thr,
    mtr,
    whe,
    evt,
    dlv,
    pln,
    plv,
    mig,
    sub,
    inv,
    key: keyOfPlan,
  }
  return things
})

/** Sends the request of an operation. Optional places have an id if `idOf` returns one. */
const send = (
  api: ApiServer.Api,
  key: string,
  operation: DocumentedOperation,
  idOf: (place: Place) => string | undefined,
) => {
  const { target, ...request } = requestWith(document, operation, idOf)
  return api.call(operation.method, target, { key, ...request })
}

const ownRequired =
  (things: Things) =>
  ({ isRequired, prefix }: Place): string | undefined =>
    isRequired ? things[prefix] : undefined

/** The answers of all reading operations to the owner. */
const viewOf = Effect.fnUntraced(function* (api: ApiServer.Api, key: string, things: Things) {
  const texts = new Map<string, string>()
  for (const operation of operations.filter(({ method }) => method === "GET")) {
    const { text } = yield* send(api, key, operation, ownRequired(things))
    // The upcoming invoice is made for each answer, and so is its id.
    const isMade = operation.id === "getUpcomingInvoice"
    texts.set(operation.id, isMade ? text.replaceAll(/inv_\w{26}/g, "inv_") : text)
  }
  return texts
})

/** Things of the owner that an operation can do something with. */
const fitting = Effect.fnUntraced(function* (
  api: ApiServer.Api,
  key: string,
  operation: string,
  { cus, mtd }: Things,
) {
  if (OF_DRAFTS.has(operation)) {
    const json = { customer_id: cus, currency: "EUR", lines: [{ description: "x", amount: 1 }] }
    return { inv: (yield* api.expect(201, "POST", "/v1/invoices", { key, json })).id }
  }
  if (operation === "cancelPayment") {
    const open = yield* api.expect(200, "GET", "/v1/payments?status=open", { key })
    return { pay: String(open.at("data", 0, "id")) }
  }
  if (operation === "rateTokenUsage") {
    const used = { customer_id: cus, rate_card: "later", model: "large", tokens: { input: 5 } }
    const card = { key: "later", unit: "token", models: { small: { input: "1" } } }
    yield* api.expect(200, "POST", "/v1/catalog/push", { key, json: { rate_cards: [card] } })
    const tku = (yield* api.expect(201, "POST", "/v1/token_usages", { key, json: used })).id
    const priced = { ...card, models: { large: { input: "1" } } }
    yield* api.expect(200, "POST", "/v1/catalog/push", { key, json: { rate_cards: [priced] } })
    return { tku }
  }
  if (operation === "payInvoice" || operation === "startInvoicePayment") {
    const path = `/v1/payment_methods/${mtd}`
    yield* api.expect(200, "POST", `${path}/setup`, { key, json: {} })
    const method = yield* api.expect(200, "GET", path, { key })
    billing.payments.methods!.save(String(method.at("setup_reference")))
    yield* api.expect(200, "POST", `${path}/refresh`, { key })
  }
  return {}
})

const strangers: ReadonlyArray<readonly [string, ApiServer.IssueOptions]> = [
  ["the other mode", { mode: "live" }],
  ["another account", { account: "other" }],
]

describe("ids of another tenant", () => {
  it.effect.each([...strangers])(
    "are unknown to %s, in any place of any operation",
    ([, stranger]) =>
      Effect.gen(function* () {
        const api = yield* ApiServer.start({ billing })
        const theirs = yield* populate(api, api.testKey, MARK)
        const view = yield* viewOf(api, api.testKey, theirs)
        const { secret } = yield* api.issue(stranger)
        const never = Object.fromEntries(
          Object.values(ApiServer.UNKNOWN).map((id) => [id.slice(0, 3), id] as const),
        )
        const shape = (text: string) => text.replaceAll(ANY_ID, (id) => id.slice(0, 4))
        /** Tries all places, and then what the operation does with ids of its own. Returns how many places there are. */
        const judge = Effect.fnUntraced(function* (operation: DocumentedOperation, things: Things) {
          const places = placesOf(document, operation)
          for (const place of places) {
            const what = `${operation.id}: ${place.in} ${place.path.join(".")}`
            assert.property(theirs, place.prefix, `${what}: no such thing is made above`)
            const asked = (id: string | undefined) =>
              send(api, secret, operation, (each) =>
                each.in === place.in && each.path.join() === place.path.join()
                  ? id
                  : ownRequired(things)(each),
              )
            const answer = yield* asked(theirs[place.prefix])
            // The same answer as for an id that doesn't exist.
            const unknown = yield* asked(never[place.prefix])
            assert.strictEqual(answer.status, unknown.status, what)
            assert.strictEqual(shape(answer.text), shape(unknown.text), what)
            if (answer.status === 200) {
              // A filter that matches nothing.
              assert.strictEqual(operation.method, "GET", what)
              assert.deepStrictEqual(answer.at("data"), [], what)
            } else {
              const isCursor = place.in === "header" || /_after$|_before$/.test(place.path[0] ?? "")
              assert.strictEqual(answer.status, isCursor ? 400 : 404, `${what}: ${answer.text}`)
            }
            assert.notInclude(answer.text, MARK, what)
          }
          const before = BEFORE[operation.id]
          if (before !== undefined) {
            const path = `/v1/subscriptions/${things["sub"]}/${before.command}`
            yield* api.expect(200, "POST", path, { key: secret, json: before.json })
          }
          // Test clocks are for test mode, so that the stranger of live mode has none.
          if (stranger.mode === "live" && operation.id.endsWith("TestClock")) return places.length
          // Only a payment provider makes a dispute: `ProviderNotices.test.ts` reads one.
          if (operation.id === "getDispute" || operation.id === "getInvoiceProof") return places.length
          // With the owner's ids it works, so the ids were the reason for the refusal.
          const fit = { ...things, ...(yield* fitting(api, secret, operation.id, things)) }
          const answer = yield* send(api, secret, operation, ownRequired(fit))
          assert.oneOf(answer.status, [200, 201], `${operation.id}: ${answer.text}`)
          assert.notInclude(answer.text, MARK, operation.id)
          for (const id of Object.values(theirs)) assert.notInclude(answer.text, id, operation.id)
          return places.length
        })
        let tried = 0
        let things = yield* populate(api, secret, "Mallory")
        for (const operation of operations) {
          // An operation before may have changed its things so that they are of no use: then it gets new ones.
          const again = Effect.gen(function* () {
            things = yield* populate(api, secret, "Mallory")
            return yield* judge(operation, things)
          })
          tried += yield* Effect.catchCause(judge(operation, things), () => again)
        }
        assert.isAtLeast(tried, 30)
        assert.deepStrictEqual(yield* viewOf(api, api.testKey, theirs), view)
      }),
    { timeout: 120_000 },
  )
})

/** The audit log of a new tenant has the creation of its API key, which differs from that of another one. */
const withoutKeys = (text: string): string =>
  text.replaceAll(/(aud|key)_\w{26}/g, "$1_").replaceAll(/"hint":"\w{4}"/g, "")

describe("data of another tenant", () => {
  it.effect.each([...strangers])(
    "is not listed or counted for %s",
    ([, stranger]) =>
      Effect.gen(function* () {
        const api = yield* ApiServer.start({ billing })
        const things = yield* populate(api, api.testKey, MARK)
        const { secret } = yield* api.issue(stranger)
        // A server without any data.
        const empty = yield* ApiServer.start({ billing })
        const same = yield* empty.issue(stranger)
        const withoutIds = operations.filter(
          (operation) =>
            operation.method === "GET" && !placesOf(document, operation).some(({ isRequired }) => isRequired),
        )
        assert.isAtLeast(withoutIds.length, 7)
        for (const operation of withoutIds) {
          const seen = yield* send(api, secret, operation, () => undefined)
          const nothing = yield* send(empty, same.secret, operation, () => undefined)
          assert.strictEqual(seen.status, 200, operation.id)
          assert.strictEqual(withoutKeys(seen.text), withoutKeys(nothing.text), operation.id)
        }
        const view = [...(yield* viewOf(api, api.testKey, things)).values()].join()
        for (const id of Object.values(things)) assert.include(view, id)
      }),
    { timeout: 120_000 },
  )
})
