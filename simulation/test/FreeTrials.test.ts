/**
 * Usage of a trial that is free: it burns no credits, also when it comes late. Of seed 4277 of the whole.
 */
import { Tenant } from "@billwright/core"
import type { Period } from "@billwright/engine"
import { DateTime } from "effect"
import { describe, expect, it } from "vitest"
import { usageBurnsOnce } from "../src/prepaid/BurnCheckers.ts"
import type { PrepaidBooks } from "../src/prepaid/PrepaidBooks.ts"
import { CALLS } from "../src/prepaid/PrepaidPlans.ts"

const HOUR = 3_600_000
const tenant = { accountId: Tenant.defaultAccountId, mode: "live" } as const
const customerId = "cus_1"
const plan = { key: "rolling", version: 1 }

/** A trial of 5 days with 250 calls, 3 of which are free in any period. Its invoice states that they burn some tokens. */
const booksOf = (trial: Period["trial"], gross: bigint) => {
  const burns = { unit: "token", decimals: 0, amount: gross, gross, of: null }
  const lines = [{ origin: { subscriptionId: "sub_1", period: 0, segment: 0, burns } }]
  const record = {
    customerId,
    productId: CALLS.productId,
    unit: CALLS.unit,
    quantity: 250,
    timestamp: DateTime.makeUnsafe(57 * HOUR),
    voidedAt: null,
  }
  const segments = [{ start: 0, end: 120 * HOUR, plan, quantities: {}, snap: "down", unused: "prorate" }]
  return {
    transactions: [],
    records: [{ tenant, record }],
    invoices: [{ tenant, invoice: { id: "inv_1", state: { status: "paid", currency: "EUR", lines } } }],
    subscriptions: [
      {
        tenant,
        subscription: { id: "sub_1", customerId },
        periods: [{ number: 0, start: 0, end: 120 * HOUR, trial, segments }],
      },
    ],
  } as unknown as PrepaidBooks
}

describe("usage of a trial", () => {
  it.each([
    ["free", 0n],
    ["charged", 494n],
  ] as const)("that is %s burns %s", (trial, gross) => {
    expect(usageBurnsOnce(booksOf(trial, gross))).toEqual([])
  })

  it.each([
    ["free", 494n, 0],
    ["charged", 0n, 494],
  ] as const)("that is %s is told when it burns %s", (trial, gross, right) => {
    expect(usageBurnsOnce(booksOf(trial, gross))).toEqual([
      `invoices burn ${gross} for period 0 of sub_1, which costs ${right}`,
    ])
  })
})
