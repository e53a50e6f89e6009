/** Credits and holds by promises, and over the client. */
import {
  ActionUnavailableError,
  type Billing,
  createBilling,
  CreditGrantNotFoundError,
  CreditKeyConflictError,
  CustomerNotFoundError,
  HoldNotFoundError,
  InsufficientCreditsError,
  InvalidInputError,
} from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { createTestBilling } from "billwright/testing"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

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
  account = { customerId, unit: "token" }
})

afterEach(() => billing.close())

const amounts = async () => {
  const { available, debt, held } = await billing.credits.balance(account)
  return [available, held, debt]
}

describe("credits", () => {
  it("may be for some things alone, for promises and for the client", async () => {
    const images = { ...account, purpose: "images" }
    const terms = { ...account, kind: "promotional", amount: 2n ** 70n, scope: ["images"] } as const
    const grant = await client.credits.grant({ ...terms, idempotencyKey: "order" })
    assert.deepStrictEqual(grant.scope, ["images"])
    assert.deepStrictEqual(await billing.credits.grant({ ...terms, idempotencyKey: "order" }), grant)
    const used = await client.credits.consume({ ...images, amount: 7 })
    assert.deepInclude(used, { purpose: "images" })
    const hold = await billing.holds.reserve({ ...images, amount: 9 })
    assert.deepInclude(await client.holds.get(hold.id), { purpose: "images" })
    for (const { credits } of [billing, client]) {
      const forImages = await credits.balance(images)
      assert.deepInclude(forImages, { purpose: "images", available: 2n ** 70n - 16n, scoped: 0n })
      const forAnything = await credits.balance(account)
      assert.deepInclude(forAnything, { purpose: null, available: 0n, scoped: 2n ** 70n - 16n })
      const [entry] = (await credits.entries(account).page()).data
      assert.deepInclude(entry, { purpose: "images", available: 0n, scoped: -9n, held: 9n })
    }
  })

  it("are the same for promises and for the client", async () => {
    const expiresAt = new Date(Date.now() + 86_400_000)
    const terms = { ...account, kind: "paid", amount: 2n ** 70n, expiresAt, idempotencyKey: "order" } as const
    const ours = await billing.credits.grant(terms)
    assert.deepInclude(ours, { amount: 2n ** 70n, available: 2n ** 70n, expiresAt, status: "active" })
    assert.deepStrictEqual(await client.credits.grant(terms), ours)
    assert.deepStrictEqual(await client.credits.getGrant(ours.id), ours)
    const use = { ...account, amount: 7, idempotencyKey: "request" }
    const used = await client.credits.consume(use)
    assert.deepInclude(used, { amount: 7n, balance: { available: 2n ** 70n - 7n, held: 0n, debt: 0n } })
    assert.deepStrictEqual(await billing.credits.consume(use), used)
    const hold = await client.holds.reserve({ ...account, amount: 9, idempotencyKey: "stream" })
    assert.deepStrictEqual(await billing.holds.get(hold.id), { ...hold })
    assert.deepStrictEqual(await client.holds.get(hold.id), { ...hold })
    for (const { credits, holds } of [billing, client]) {
      assert.deepStrictEqual((await holds.list(account).page()).data, [{ ...hold }])
      assert.deepStrictEqual((await holds.list({ ...account, unit: "nothing" }).page()).data, [])
      assert.deepStrictEqual(await credits.balance(account), {
        ...account,
        decimals: 0,
        purpose: null,
        available: 2n ** 70n - 16n,
        scoped: 0n,
        held: 9n,
        debt: 0n,
        sequence: 3,
      })
      assert.deepStrictEqual(
        (await credits.listGrants(account).page()).data,
        (await billing.credits.listGrants(account).page()).data,
      )
      const entries = (await credits.entries({ grantId: ours.id }).page()).data
      assert.deepStrictEqual(
        entries.map(({ at, available, kind }) => [kind, available, at instanceof Date]),
        [
          ["reserve", -9n, true],
          ["consume", -7n, true],
          ["grant", 2n ** 70n, true],
        ],
      )
    }
    const voided = await client.credits.voidGrant(ours.id)
    assert.deepInclude(voided, { status: "voided", available: 0n, held: 9n })
    const types = (await billing.events.list().page()).data.map(({ type }) => type)
    assert.deepStrictEqual(types, ["credit.granted"])
  })

  it("are held by objects that settle themselves, here and over the client", async () => {
    await billing.credits.grant({ ...account, kind: "paid", amount: 100 })
    for (const { holds } of [billing, client]) {
      const hold = await holds.reserve({ ...account, amount: 30 })
      assert.notInclude(Object.keys(hold), "commit")
      const committed = await hold.commit(10)
      assert.deepInclude(committed, { id: hold.id, status: "committed", committed: 10n, isLate: false })
      assert.deepStrictEqual(await hold.commit(10n), committed)
      const second = await holds.reserve({ ...account, amount: 30 })
      assert.deepInclude(await holds.extend(second.id, { ttlSeconds: 60 }), { status: "open" })
      assert.deepInclude(await second.release(), { status: "released", committed: null })
    }
    assert.deepStrictEqual(await amounts(), [80n, 0n, 0n])
    const whole = await billing.holds.reserve({ ...account, amount: 80 })
    assert.deepInclude(await whole.commit(), { committed: 80n })
    assert.deepStrictEqual(await amounts(), [0n, 0n, 0n])
    const types = (await billing.events.list().page()).data.map(({ type }) => type)
    assert.deepStrictEqual(types, ["credit.exhausted", "credit.granted"])
  })

  it("are refused with an error that says why", async () => {
    const { credits, holds } = billing
    await credits.grant({ ...account, kind: "paid", amount: 10, idempotencyKey: "order" })
    const tooMuch = await rejection(credits.consume({ ...account, amount: 11 }))
    assert.instanceOf(tooMuch, InsufficientCreditsError)
    assert.deepInclude(tooMuch, { available: 10n, amount: 11n, unit: "token", code: "insufficient_credits" })
    assert.instanceOf(await rejection(holds.reserve({ ...account, amount: 11 })), InsufficientCreditsError)
    const other = { ...account, kind: "plan", amount: 10, idempotencyKey: "order" } as const
    assert.instanceOf(await rejection(credits.grant(other)), CreditKeyConflictError)
    const fraction = await rejection(credits.consume({ ...account, amount: 0.5 }))
    assert.strictEqual(fraction.message, "amount must be an integer from 1 to 10^30")
    const nothing = await rejection(credits.consume({ ...account, amount: 0 }))
    assert.strictEqual(nothing.message, "amount must be an integer from 1 to 10^30")
    const early = await rejection(credits.grant({ ...other, idempotencyKey: "x", expiresAt: new Date(0) }))
    assert.instanceOf(early, InvalidInputError)
    assert.strictEqual(early.field, "expiresAt")
    const nobody = { ...account, customerId: `cus_${"0".repeat(26)}` }
    assert.instanceOf(await rejection(credits.balance(nobody)), CustomerNotFoundError)
    assert.instanceOf(await rejection(credits.consume({ ...nobody, amount: 1 })), CustomerNotFoundError)
    assert.instanceOf(await rejection(credits.getGrant("cgr_1")), CreditGrantNotFoundError)
    assert.instanceOf(await rejection(holds.get("hld_1")), HoldNotFoundError)
    const hold = await holds.reserve({ ...account, amount: 5 })
    const refused = holds.commit(hold.id, { amount: 11, overdraft: "refuse" })
    assert.instanceOf(await rejection(refused), InsufficientCreditsError)
    await hold.release()
    assert.instanceOf(await rejection(hold.commit(1)), ActionUnavailableError)
    assert.instanceOf(await rejection(client.holds.commit(hold.id, { amount: 1 })), ApiError)
  })

  it("roll back with the transaction around them", async () => {
    await billing.credits.grant({ ...account, kind: "paid", amount: 10 })
    const work = billing.transaction(async (tx) => {
      await tx.credits.consume({ ...account, amount: 4 })
      await (await tx.holds.reserve({ ...account, amount: 3 })).commit(2)
      throw new Error("no")
    })
    assert.strictEqual((await rejection(work)).message, "no")
    assert.deepStrictEqual(await amounts(), [10n, 0n, 0n])
  })

  it("follow the test clock of their customer", async () => {
    const clock = await billing.testClocks.create({ now: "2030-01-01T00:00:00Z" })
    const { id: customerId } = await billing.customers.create({
      name: "Grace",
      email: "grace@example.com",
      testClockId: clock.id,
    })
    const tokens = { customerId, unit: "token" }
    await billing.credits.grant({ ...tokens, kind: "paid", amount: 9, expiresAt: "2030-01-02T00:00:00Z" })
    const hold = await billing.holds.reserve({ ...tokens, amount: 4, ttlSeconds: 60 })
    assert.deepStrictEqual(hold.expiresAt, new Date("2030-01-01T00:01:00Z"))
    await billing.testClocks.advance(clock.id, "2030-01-01T01:00:00Z")
    assert.deepInclude(await billing.holds.get(hold.id), { status: "lapsed" })
    assert.deepInclude(await billing.credits.balance(tokens), { available: 9n, held: 0n })
    await billing.testClocks.advance(clock.id, "2030-01-02T01:00:00Z")
    assert.deepInclude(await billing.credits.balance(tokens), { available: 0n })
  })

  it("follow the clock of a test billing", async () => {
    await using test = await createTestBilling({ now: "2026-01-01T00:00:00Z" })
    const { id: customerId } = await test.testing.customer()
    const tokens = { customerId, unit: "token" }
    await test.credits.grant({ ...tokens, kind: "plan", amount: 9, effectiveAt: "2026-01-03T00:00:00Z" })
    assert.instanceOf(
      await rejection(test.credits.consume({ ...tokens, amount: 1 })),
      InsufficientCreditsError,
    )
    await test.testing.advance({ days: 2 })
    assert.deepInclude((await test.credits.consume({ ...tokens, amount: 1 })).balance, { available: 8n })
  })
})
