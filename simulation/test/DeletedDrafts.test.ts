/**
 * Drafts that are gone: when an event has to say so. Of seed 4969 of the whole: a draft was deleted after its customer was erased.
 */
import { Billing, CurrentTenant, Customers, Invoices, Tenant } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { bookCheckers } from "../src/billing/BillingCheckers.ts"
import type { Books } from "../src/billing/Books.ts"
import { readBooks } from "../src/billing/Reading.ts"

const tenant: Tenant.Tenant = { accountId: Tenant.AccountId.make("acme"), mode: "live" }
const elsewhere: Tenant.Tenant = { ...tenant, mode: "test" }

/** An invoice of a customer who may be erased. What is left of it is its only event. */
const booksOf = (options: {
  readonly status?: string
  readonly billed?: ReadonlyArray<string>
  readonly erasedIn?: Tenant.Tenant
}) => {
  const { billed = [], erasedIn, status = "draft" } = options
  const invoice = {
    id: "inv_1",
    customer_id: "cus_1",
    status,
    subscription_ids: billed,
    currency: "USD",
    total: 10,
    sequence: 1,
  }
  const payload = JSON.stringify({ type: "invoice.created", data: { invoice } })
  return {
    customers: [tenant, elsewhere].map((one) => ({
      tenant: one,
      id: "cus_1",
      testClockId: null,
      isErased: one === erasedIn,
    })),
    clocks: [],
    subscriptions: [],
    invoices: [],
    creditNotes: [],
    redemptions: [],
    items: [],
    events: [{ tenant, event: { payload } }],
  } as unknown as Books
}

const missing = "there are events of live:acme inv_1, which its tenant has not"

/** What the library leaves behind of a draft that is deleted. */
const deleted = (isErased: boolean) =>
  Effect.scoped(
    Effect.gen(function* () {
      const memory = yield* Layer.build(Memory.layer)
      const work = Effect.gen(function* () {
        const customers = yield* Customers
        const { create, delete: remove } = yield* Invoices
        const { id: customerId } = yield* customers.create({ name: "Ada", email: "ada@example.com" })
        const lines = [{ description: "Setup", amount: 10n }]
        const { id } = yield* create({ customerId, currency: "USD", lines })
        if (isErased) yield* customers.erase(customerId)
        yield* remove(id)
      })
      const storage = Layer.succeedContext(memory)
      yield* work.pipe(
        Effect.provideService(CurrentTenant, tenant),
        Effect.provide(Layer.provideMerge(Billing.layer, storage)),
      )
      return yield* readBooks(memory, { tenants: [tenant], now: 0, seen: [], writtenAt: new Map() })
    }),
  ).pipe(Effect.runPromise)

describe("a draft that is gone", () => {
  it.each([
    ["an event says so", false, ["invoice.created", "invoice.deleted"]],
    ["nothing is published any more, as its customer is erased", true, ["invoice.created"]],
  ])("is right if %s", async (_, isErased, types) => {
    const books = await deleted(isErased)
    expect(books.invoices).toEqual([])
    expect(books.events.map(({ event }) => event.type)).toEqual(types)
    expect(bookCheckers.J11(books)).toEqual([])
  })

  it("is right if its customer is erased", () => {
    expect(bookCheckers.J11(booksOf({ erasedIn: tenant }))).toEqual([])
  })

  it.each([
    ["its customer is there", {}],
    ["the customer that is erased is another tenant's", { erasedIn: elsewhere }],
    ["it bills a subscription", { erasedIn: tenant, billed: ["sub_1"] }],
    ["it was issued", { erasedIn: tenant, status: "open" }],
  ])("is missing if %s", (_, options) => {
    expect(bookCheckers.J11(booksOf(options))).toEqual([missing])
  })
})
