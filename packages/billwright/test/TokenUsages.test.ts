/** Token usage by promises, and over the client. */
import {
  type Billing,
  createBilling,
  CreditKeyConflictError,
  RateCardNotFoundError,
  TokenUsageNotFoundError,
  tokens,
} from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, it } from "vitest"
import { rejection } from "./Rejection.ts"

const card = {
  key: "llm",
  unit: "credit",
  decimals: 4,
  models: { large: { input: "2.00", cache_read: "0.20", output: "8.00" } },
}
/** 9,000 of 10,000 tokens of input are cached. */
const usage = {
  prompt_tokens: 10_000,
  completion_tokens: 500,
  prompt_tokens_details: { cached_tokens: 9_000 },
}
const used = { rateCard: "llm", model: "large", tokens: tokens(usage) }

let billing: Billing
let client: BillingClient
let account: { readonly customerId: string; readonly unit: string }

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["credits:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  const { id: customerId } = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
  account = { customerId, unit: "credit" }
  await billing.rateCards.push(card)
  await billing.credits.grant({ ...account, kind: "paid", amount: 1_000 })
})

afterEach(() => billing.close())

it("commits what tokens cost, the same for promises and for the client", async () => {
  for (const { holds } of [billing, client]) {
    const hold = await holds.reserve({ ...account, amount: 100 })
    const committed = await hold.commit(used)
    assert.deepInclude(committed, { status: "committed", committed: 78n })
    const { tokenUsage } = committed
    assert.deepInclude(tokenUsage, {
      tokens: { ...used.tokens },
      amount: 78n,
      exact: "0.0078",
      holdId: hold.id,
    })
    assert.instanceOf(tokenUsage?.settledAt, Date)
    const parts = tokenUsage!.steps.flatMap((step) => (step.type === "tokens" ? [step.amount] : []))
    assert.deepStrictEqual(parts, ["0.002", "0.0018", "0.004"])
    assert.deepStrictEqual(await billing.holds.commit(hold.id, used), committed)
    assert.deepStrictEqual(await client.holds.commit(hold.id, used), committed)
    assert.deepStrictEqual(await client.tokenUsages.get(tokenUsage!.id), tokenUsage)
    assert.deepStrictEqual((await billing.tokenUsages.list({ holdId: hold.id }).page()).data, [tokenUsage])
  }
  const other = await billing.holds.reserve({ ...account, amount: 5 })
  assert.deepInclude(await other.commit(3n), { committed: 3n, tokenUsage: null })
})

it("keeps what has no price until it is rated or waived", async () => {
  const { customerId } = account
  const call = { ...used, model: "larger", customerId, idempotencyKey: "call" }
  const first = await billing.tokenUsages.create(call)
  assert.deepInclude(first, { status: "unrated", amount: null, settledAt: null })
  assert.deepStrictEqual(await client.tokenUsages.create(call), first)
  const second = await client.tokenUsages.create({ ...call, idempotencyKey: "another" })
  const [event] = (await billing.events.list({ type: "usage.unrated" }).page()).data
  assert.deepInclude(event, { type: "usage.unrated" })
  await billing.rateCards.push({ ...card, models: { larger: { input: "1", cache_read: "1", output: "1" } } })
  const rated = await client.tokenUsages.rate(first.id)
  assert.deepInclude(rated, { status: "rated", amount: 105n, version: 2 })
  assert.deepStrictEqual(await billing.tokenUsages.rate(first.id), rated)
  const words = { by: "ada@example.com", reason: "A test" }
  const waived = await client.tokenUsages.waive(second.id, words)
  assert.deepInclude(waived, {
    status: "waived",
    waivedBy: words.by,
    waiveReason: words.reason,
    amount: null,
  })
  assert.deepStrictEqual(await billing.tokenUsages.waive(second.id, words), waived)
  assert.strictEqual((await billing.credits.balance(account)).available, 895n)
})

it("says what is wrong", async () => {
  const { customerId } = account
  const call = { ...used, customerId, idempotencyKey: "call" }
  const { id } = await billing.tokenUsages.create(call)
  const conflict = await rejection(billing.tokenUsages.create({ ...call, model: "small" }))
  assert.instanceOf(conflict, CreditKeyConflictError)
  const missing = await rejection(billing.tokenUsages.create({ ...used, customerId, rateCard: "none" }))
  assert.instanceOf(missing, RateCardNotFoundError)
  assert.deepInclude(missing, { id: "none", field: "rateCard" })
  const unknown = await rejection(billing.tokenUsages.get("tku_00000000000000000000000000"))
  assert.instanceOf(unknown, TokenUsageNotFoundError)
  const late = await rejection(billing.tokenUsages.waive(id, { by: "Ada", reason: "A test" }))
  assert.deepInclude({ ...late } as object, { code: "action_unavailable", object: "token usage", id })
  const refused = await rejection(client.tokenUsages.rate("tku_00000000000000000000000000"))
  assert.instanceOf(refused, ApiError)
  assert.strictEqual(refused.status, 404)
  const hold = await billing.holds.reserve({ ...account, amount: 5 })
  const input: object = { ...used, amount: 5 }
  const both = await rejection(billing.holds.commit(hold.id, input))
  assert.strictEqual(both.message, "amount must be left out: the tokens say what was used")
})
