/**
 * Invoices that are made and issued by call.
 */
import { InvoiceItems, Invoices, Transactor } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { billed, newCustomer, scenario, subscribed, told, until, use } from "./Scenario.ts"

const toldOfInvoices = Effect.map(told, (all) => all.filter((one) => one.includes(" invoice.")))

export const oneOffScenarios = (test: InvoicingTest): void => {
  scenario(
    test,
    "one-off invoices of one customer have given lines, or its pending items, and a deleted one gives them back",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const [invoices, items] = [yield* Invoices, yield* InvoiceItems]
      const given = { customerId, currency: "EUR", lines: [{ description: "Work", amount: 500n }] }
      const first = yield* invoices.create(given)
      const second = yield* invoices.create(given)
      yield* items.create({ customerId, currency: "EUR", amount: 700n, description: "Fee" })
      yield* items.create({ customerId, currency: "EUR", amount: -900n, description: "Credit" })
      const deleted = yield* invoices.create({ customerId, currency: "EUR" })
      assert.deepInclude(deleted, { total: 0n, finalizesAt: null })
      yield* invoices.delete(deleted.id)
      yield* until("2026-02-01")
      const third = yield* invoices.create({ customerId, currency: "EUR" })
      const numbers = yield* Effect.forEach([second, third, first], ({ id }) =>
        Effect.map(invoices.finalize(id), ({ number, status }) => `${number} ${status}`),
      )
      assert.deepStrictEqual(numbers, ["2026-0001 open", "2026-0002 paid", "2026-0003 open"])
      const { data } = yield* items.list({ status: "pending" })
      assert.deepStrictEqual(
        data.map(({ amount }) => amount),
        [-200n],
      )
      assert.deepStrictEqual(yield* toldOfInvoices, [
        "2026-01-01 invoice.created",
        "2026-01-01 invoice.created",
        "2026-01-01 invoice.created",
        "2026-01-01 invoice.deleted",
        "2026-02-01 invoice.created",
        "2026-02-01 invoice.finalized",
        "2026-02-01 invoice.finalized",
        "2026-02-01 invoice.paid",
        "2026-02-01 invoice.finalized",
      ])
    }),
  )

  scenario(
    test,
    "a draft that is finalized in a longer transaction is issued by the next run, and not if that is undone",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const invoices = yield* Invoices
      const { atomically } = yield* Transactor
      const order = Effect.gen(function* () {
        const lines = [{ description: "Order", amount: 500n }]
        const { id } = yield* invoices.create({ customerId, currency: "EUR", lines })
        return yield* invoices.finalize(id)
      })
      yield* Effect.flip(atomically(Effect.andThen(order, Effect.fail("no"))))
      const { id, number } = yield* atomically(order)
      assert.isNull(number)
      yield* until("2026-01-02")
      assert.deepInclude(yield* invoices.get(id), { status: "open", number: "2026-0001" })
      assert.lengthOf((yield* invoices.list()).data, 1)
    }),
  )

  scenario(
    test,
    "the upcoming invoice is what is then issued",
    Effect.gen(function* () {
      const { customer, id } = yield* subscribed
      yield* use(customer, 100)
      const before = yield* billed
      const upcoming = yield* (yield* Invoices).upcoming(id)
      assert.deepStrictEqual(yield* billed, before)
      yield* until("2026-02-02")
      const [issued] = (yield* (yield* Invoices).list()).data
      assert.deepStrictEqual(issued?.lines, upcoming?.lines)
    }),
  )
}
