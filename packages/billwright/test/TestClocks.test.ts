/** Test clocks by promises, over the client, and over REST. */
import { type Billing, ConflictError, createBilling, InvalidInputError, NotFoundError } from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

const pro = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
} as const

let billing: Billing
let client: BillingClient
let live: BillingClient

const clientOf = (apiKey: string) => {
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  return createClient({ url: "http://localhost/billing", apiKey, fetch })
}

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
  client = clientOf(
    (await billing.keys.create({ name: "app", scopes: ["subscriptions:*", "customers:*"] })).secret,
  )
  live = clientOf((await billing.live.keys.create({ name: "app", scopes: ["subscriptions:*"] })).secret)
  await billing.plans.push(pro)
})
afterEach(() => billing.close())

/** The same calls with `createBilling` and with the client. */
const both = [
  ["createBilling", () => billing],
  ["the client", () => client],
] as const

describe.each(both)("test clocks of %s", (_, caller) => {
  it("take their customers through years", { timeout: 60_000 }, async () => {
    const { customers, subscriptions, testClocks } = caller()
    const clock = await testClocks.create({ name: "Years", now: "2026-01-31T12:00:00Z" })
    assert.deepInclude(clock, {
      name: "Years",
      now: new Date("2026-01-31T12:00:00Z"),
      status: "ready",
      advancingTo: null,
    })
    const { id: customerId, testClockId } = await customers.create({
      name: "Ada",
      email: "ada@example.com",
      testClockId: clock.id,
    })
    assert.strictEqual(testClockId, clock.id)
    const { id } = await subscriptions.create({ customerId, plan: "pro" })
    const seen: Array<string> = []
    const to = new Date("2036-02-01T00:00:00Z")
    const onProgress = ({ now, status }: { readonly now: Date; readonly status: string }) =>
      void seen.push(`${status} ${now.toISOString().slice(0, 4)}`)
    const ready = await testClocks.advance(clock.id, to, { onProgress })
    assert.deepInclude(ready, { status: "ready", now: to, advancingTo: null })
    assert.deepStrictEqual(seen, ["advancing 2030", "advancing 2034", "ready 2036"])
    const invoices = await billing.invoices.list({ subscriptionId: id, limit: 100 }).page()
    assert.lengthOf(invoices.data, 100)
    assert.deepStrictEqual(invoices.data[0]?.issuedAt, new Date("2036-01-31T12:00:00Z"))
    const { data } = await testClocks.list({ status: "ready" }).page()
    assert.deepStrictEqual(data, [ready])
    assert.deepStrictEqual((await customers.list({ testClockId: clock.id }).page()).data[0]?.id, customerId)
    const kept = await rejection(testClocks.delete(clock.id))
    assert.include(String(kept), "has customers: erase them first")
  })
})

describe("test clocks", () => {
  it("are for test mode", async () => {
    const error = await rejection(billing.live.testClocks.create({}))
    assert.instanceOf(error, ConflictError)
    assert.strictEqual(error.code, "test_clocks_are_for_tests")
    const answer = await rejection(live.testClocks.create({}))
    assert.instanceOf(answer, ApiError)
    assert.deepInclude(answer, { status: 409, code: "conflict" })
    assert.match(answer.message, /test clocks are for test mode/)
  })

  it("name the field of wrong input", async () => {
    const clock = await billing.testClocks.create({ now: new Date("2026-01-31T12:00:00Z") })
    const back = await rejection(billing.testClocks.advance(clock.id, "2026-01-31T11:00:00Z"))
    assert.instanceOf(back, InvalidInputError)
    assert.strictEqual(back.field, "to")
    assert.instanceOf(await rejection(billing.testClocks.advance(clock.id, "soon")), InvalidInputError)
    const unknown = await rejection(billing.testClocks.advance("clk_1", new Date()))
    assert.instanceOf(unknown, NotFoundError)
    assert.strictEqual(unknown.code, "test_clock_not_found")
    const input = { name: "Ada", email: "ada@example.com", testClockId: "clk_01kb2r9d3vffx9qd6k4v2n1h7c" }
    const missing = await rejection(billing.customers.create(input))
    assert.instanceOf(missing, NotFoundError)
    assert.strictEqual(missing.code, "test_clock_not_found")
  })
})
