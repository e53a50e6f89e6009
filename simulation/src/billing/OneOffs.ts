/**
 * Invoices that no subscription makes: of given lines, or of pending items. They wait as drafts until somebody issues or
 * deletes them.
 */
import { Customer, Invoices } from "@billwright/core"
import { Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import { decided, type Made, makeOnce, type Work } from "./Command.ts"

type Run = (made: Made) => Work

/** Whose invoice it is, by the number of a command. */
interface Owner {
  readonly customer: number
  readonly currency: string
}

/** What the lines of a one-off invoice are called. No two commands give theirs the same name. */
const descriptionOf = (command: number, line: number): string => `one-off ${command}.${line}`

/** Makes an invoice of one to three lines, and may issue it at once. */
export const createOneOff = (choice: Choice, number: number, { currency, customer }: Owner): Run => {
  const amounts = Array.from({ length: choice.int(1, 3) }, (_, index) =>
    choice.pick(index === 0 ? [1n, 999n, 45_000n] : [-500n, -1n, 333n, 12_345n]),
  )
  const lines = amounts.map((amount, index) => ({
    description: descriptionOf(number, index),
    amount: amount!,
    taxCode: choice.pick([null, "reduced"]),
  }))
  const isIssued = choice.chance(0.25)
  return (made) =>
    Effect.gen(function* () {
      const owner = made.customers.get(customer)
      if (owner === undefined) return
      const customerId = Customer.CustomerId.make(owner)
      const { create, finalize, list } = yield* Invoices
      const invoice = yield* makeOnce(
        (query) => list({ ...query, customerId }),
        (one) => one.lines.some(({ description }) => description === lines[0]!.description),
        create({ customerId, currency, lines }),
      )
      made.oneOffs.set(number, invoice.id)
      if (isIssued && invoice.status === "draft") yield* finalize(invoice.id)
    })
}

/** Makes an invoice of the items of a customer that wait for one. */
export const billItems = (number: number, { currency, customer }: Owner): Run => {
  const listed = (made: Made) =>
    Effect.flatMap(Invoices, ({ list }) =>
      list({ limit: 100, customerId: Customer.CustomerId.make(made.customers.get(customer)!) }),
    )
  const before = decided((made) => Effect.map(listed(made), ({ data }) => data.length))
  return (made) =>
    Effect.gen(function* () {
      const owner = made.customers.get(customer)
      if (owner === undefined) return
      const count = yield* before(made)
      const { data } = yield* listed(made)
      const customerId = Customer.CustomerId.make(owner)
      const invoice =
        data.length > count ? data[0]! : yield* (yield* Invoices).create({ customerId, currency })
      made.oneOffs.set(number, invoice.id)
    })
}

/** Issues a draft, or deletes it. */
export const endDraft =
  (oneOff: number, action: "finalize" | "delete"): Run =>
  (made) => {
    const id = made.oneOffs.get(oneOff)
    return id === undefined ? Effect.void : Effect.flatMap(Invoices, (all) => all[action](id))
  }
