/** What a process remembers of answers about features. */
import { Customer, type Entitlement, Tenant } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import {
  MAX_RECENT_ANSWERS,
  MAX_RECENT_CUSTOMERS,
  RecentAnswers,
} from "../../src/entitlements/RecentAnswers.ts"

const MILLI = 1_000_000n
const tenant = { accountId: Tenant.defaultAccountId, mode: "live" } as const
const other = { ...tenant, mode: "test" } as const
const customer = (n: number) => Customer.CustomerId.make(`cus_${String(n).padStart(26, "0")}`)
const asked = (n = 1, change: Partial<Entitlement.CheckEntitlement> = {}) => ({
  customerId: customer(n),
  feature: "calls",
  maxStalenessMillis: 10,
  ...change,
})
const answer = (used: bigint) => ({ used }) as Entitlement.Entitlement

describe("recent answers", () => {
  it("are given as long as the caller accepts, from the beginning of their reading on", () => {
    const recent = new RecentAnswers()
    recent.reading(tenant, asked(), 5n * MILLI)(answer(1n))
    assert.strictEqual(recent.find(tenant, asked(), 15n * MILLI)?.used, 1n)
    assert.isUndefined(recent.find(tenant, asked(), 15n * MILLI + 1n))
    assert.isUndefined(recent.find(tenant, asked(1, { maxStalenessMillis: 9 }), 15n * MILLI))
  })

  it("are of one tenant, customer, feature and quantity", () => {
    const recent = new RecentAnswers()
    recent.reading(tenant, asked(), 0n)(answer(1n))
    assert.strictEqual(recent.find(tenant, asked(1, { quantity: 1 }), 0n)?.used, 1n)
    assert.isUndefined(recent.find(other, asked(), 0n))
    assert.isUndefined(recent.find(tenant, asked(2), 0n))
    assert.isUndefined(recent.find(tenant, asked(1, { feature: "other" }), 0n))
    assert.isUndefined(recent.find(tenant, asked(1, { quantity: 2 }), 0n))
  })

  it("are forgotten, also those whose reading began before that", () => {
    const recent = new RecentAnswers()
    const late = recent.reading(tenant, asked(), 0n)
    recent.reading(tenant, asked(2), 0n)(answer(2n))
    late(answer(1n))
    recent.forget(tenant, customer(1))
    assert.isUndefined(recent.find(tenant, asked(), 0n))
    late(answer(1n))
    assert.isUndefined(recent.find(tenant, asked(), 0n))
    assert.strictEqual(recent.find(tenant, asked(2), 0n)?.used, 2n)
  })

  it("are those of the customers that were read last, and not too many of each", () => {
    const recent = new RecentAnswers()
    for (let n = 0; n < MAX_RECENT_CUSTOMERS; n++) recent.reading(tenant, asked(n), 0n)(answer(1n))
    recent.reading(tenant, asked(0), 0n)
    recent.reading(tenant, asked(MAX_RECENT_CUSTOMERS), 0n)(answer(1n))
    assert.isUndefined(recent.find(tenant, asked(1), 0n))
    for (const n of [0, 2, MAX_RECENT_CUSTOMERS]) assert.isDefined(recent.find(tenant, asked(n), 0n), `${n}`)
    for (let quantity = 2; quantity <= MAX_RECENT_ANSWERS + 1; quantity++) {
      recent.reading(tenant, asked(0, { quantity }), 0n)(answer(1n))
    }
    assert.isUndefined(recent.find(tenant, asked(0), 0n))
    assert.isDefined(recent.find(tenant, asked(0, { quantity: MAX_RECENT_ANSWERS + 1 }), 0n))
  })
})
