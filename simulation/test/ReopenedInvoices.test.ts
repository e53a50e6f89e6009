/**
 * How often an invoice has each of its events. Of seed 6571 of the whole: an invoice was marked as uncollectible, paid, refunded,
 * and marked again.
 */
import { Tenant } from "@billwright/core"
import { describe, expect, it } from "vitest"
import { bookCheckers } from "../src/billing/BillingCheckers.ts"
import type { Books } from "../src/billing/Books.ts"

const tenant: Tenant.Tenant = { accountId: Tenant.AccountId.make("acme"), mode: "live" }

/** An invoice that was issued, and what came after that. It is now as its last event says. */
const booksOf = (status: string, changes: ReadonlyArray<string>) => {
  const types = ["created", "finalized", ...changes].map((name) => `invoice.${name}`)
  const invoice = { id: "inv_1", customer_id: "cus_1", status, currency: "USD", total: 10 }
  const events = types.map((type, index) => ({
    tenant,
    event: {
      payload: JSON.stringify({ type, data: { invoice: { ...invoice, sequence: index + 1 } } }),
    },
  }))
  const state = { status, total: 10n, amountDue: status === "paid" ? 0n : 10n, sequence: types.length }
  return {
    customers: [],
    subscriptions: [],
    invoices: [{ tenant, invoice: { id: "inv_1", customerId: "cus_1", state } }],
    creditNotes: [],
    redemptions: [],
    items: [],
    events,
  } as unknown as Books
}

describe("the events of an invoice that was reopened", () => {
  it.each([
    ["uncollectible", ["marked_uncollectible"]],
    ["uncollectible", ["marked_uncollectible", "paid", "reopened", "marked_uncollectible"]],
    ["uncollectible", ["paid", "reopened", "marked_uncollectible"]],
    ["paid", ["paid", "reopened", "paid"]],
  ])("are right: %s after %o", (status, changes) => {
    expect(bookCheckers.J10(booksOf(status, changes))).toEqual([])
  })

  it.each([
    ["uncollectible", ["marked_uncollectible", "marked_uncollectible"]],
    ["uncollectible", ["marked_uncollectible", "paid", "reopened"]],
    ["uncollectible", []],
    ["paid", ["paid", "paid"]],
    ["paid", ["reopened", "paid"]],
    ["paid", ["paid", "reopened"]],
  ])("are wrong: %s after %o", (status, changes) => {
    expect(bookCheckers.J10(booksOf(status, changes))).toEqual([
      expect.stringContaining(`is ${status}, and has the events`),
    ])
  })
})
