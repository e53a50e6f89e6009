import { Collections, Customers, IdGenerator, InvoiceItem, InvoiceItems } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { InvoiceId } from "../../src/invoices/Invoice.ts"
import { ItemLines, lineOfItem } from "../../src/invoices/ItemLines.ts"
import { inWorld, newCustomer } from "../world.ts"

describe("the items of an invoice", () => {
  it.effect("that were read before their customer was erased bring nothing personal back", () =>
    Effect.gen(function* () {
      const invoiceId = InvoiceId.make("inv_01kahd3kc8e0fsr8zknzqgf2h1")
      const store = (yield* Collections).of(InvoiceItem.invoiceItems)
      const { create, list } = yield* InvoiceItems
      const lines = new ItemLines(store, yield* IdGenerator)
      const { id: customerId } = yield* newCustomer()
      const credit = { customerId, currency: "EUR", amount: -500n, description: "Credit" } as const
      for (let n = 0; n < 2; n++) {
        const { id } = yield* create({ ...credit, metadata: { contact: "Ada Lovelace" } })
        yield* store.modify(id, (item) => Effect.succeed({ ...item, status: "invoiced" as const, invoiceId }))
      }
      const read = yield* lines.of(invoiceId)
      yield* (yield* Customers).erase(customerId)
      const [used] = read
      yield* lines.settle(read, [{ ...lineOfItem(used!), amount: -200n }])
      yield* lines.giveBack(invoiceId)
      const { data } = yield* list({ customerId })
      assert.deepStrictEqual(
        data.map(({ amount, metadata, status }) => [status, amount, metadata]),
        [
          ["pending", -200n, {}],
          ["pending", -300n, {}],
          ["pending", -500n, {}],
          ["invoiced", -200n, {}],
        ],
      )
    }).pipe(inWorld()),
  )
})
