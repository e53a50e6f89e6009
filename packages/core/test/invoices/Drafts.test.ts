import { InvoiceItems, Invoices, Subscriptions } from "@billwright/core"
import { problemsOfSums } from "@billwright/engine"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { advanceTo, allInvoices, pushPro, use } from "../time/billing.ts"
import { at, inWorld, newCustomer, recordUsage } from "../world.ts"

describe("a draft that is read", () => {
  it.effect("has the usage and the items of now, and nothing is written", () =>
    Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
      yield* advanceTo(at("2026-12-01T00:00:00.000Z").epochMilliseconds)
      yield* use(customer, 300)
      const items = yield* InvoiceItems
      const fee = yield* items.create({
        customerId: customer.id,
        currency: "EUR",
        amount: 700n,
        description: "Fee",
      })
      yield* advanceTo(at("2026-12-21T12:10:00.000Z").epochMilliseconds)
      const draft = (yield* allInvoices)[1]!
      assert.strictEqual(draft.status, "draft")
      assert.strictEqual(draft.total, 2_900n)
      const inspector = yield* MemoryInspector
      const before = (yield* inspector.snapshot).invoices
      yield* recordUsage(customer, { quantity: 500, timestamp: at("2026-12-10T00:00:00.000Z") })
      yield* items.delete(fee.id)
      const invoices = yield* Invoices
      const read = yield* invoices.get(draft.id)
      assert.deepStrictEqual(problemsOfSums(read), [])
      // 800 calls, of which 100 are free, at 0.01, and the fee of the plan.
      assert.strictEqual(read.total, 2_700n)
      assert.strictEqual(read.sequence, draft.sequence)
      assert.deepStrictEqual((yield* inspector.snapshot).invoices, before)
      yield* advanceTo(at("2026-12-21T13:00:00.000Z").epochMilliseconds)
      const issued = yield* invoices.get(draft.id)
      assert.strictEqual(issued.status, "open")
      assert.deepStrictEqual(issued.lines, read.lines)
    }).pipe(inWorld()),
  )

  it.effect("of several subscriptions has the usage of all of them", () =>
    Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      const input = { customerId: customer.id, plan: "pro", invoiceGroup: "all" }
      const { create } = yield* Subscriptions
      const [first, second] = [yield* create(input), yield* create(input)]
      yield* advanceTo(at("2026-12-21T12:10:00.000Z").epochMilliseconds)
      const draft = (yield* allInvoices)[2]!
      assert.deepStrictEqual([draft.status, draft.total], ["draft", 4_000n])
      yield* recordUsage(customer, { quantity: 300, timestamp: at("2026-12-10T00:00:00.000Z") })
      const { get } = yield* Invoices
      const read = yield* get(draft.id)
      assert.deepStrictEqual(problemsOfSums(read), [])
      assert.strictEqual(read.total, 4_400n)
      assert.deepStrictEqual(read.subscriptionIds, [first.id, second.id])
      yield* advanceTo(at("2026-12-21T13:00:00.000Z").epochMilliseconds)
      assert.deepStrictEqual((yield* get(draft.id)).lines, read.lines)
    }).pipe(inWorld()),
  )
})
