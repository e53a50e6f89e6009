/**
 * What a host does to invoices while they are collected. Each command is decided once, and repeated until its outcome is
 * known.
 */
import {
  type Billing,
  CreditNotes,
  type CurrentTenant,
  type Customer,
  type Invoice,
  Invoices,
  Payments,
  Subscriptions,
} from "@billwright/core"
import { Effect, Exit } from "effect"
import type { Choice } from "../world/Choice.ts"
import type { Recorded } from "./PaymentBooks.ts"

type Services = Billing.Services | CurrentTenant

/** A host: a tenant with one customer. */
export interface Host {
  readonly customerId: Customer.CustomerId
  /** What it recorded, by reference. */
  readonly recorded: Map<string, Recorded>
}

/** A command that is decided. It may run several times. */
export type Work = (host: Host) => Effect.Effect<void, unknown, Services>

export interface PaymentCommand {
  readonly name: string
  readonly weight: number
  /** `number` is that of the command in its run. */
  readonly decide: (choice: Choice, number: number) => Work
}

type Wanted = (invoice: Invoice.Invoice) => boolean

/** The most invoices of a run. */
export const MANY = 100

/** One invoice of the host that is wanted, the same in each attempt. */
export const chosen = (choice: Choice, wanted: Wanted) => {
  const at = choice.next()
  let known: Invoice.Invoice | undefined
  return Effect.gen(function* () {
    if (known !== undefined) return known
    const { data } = yield* (yield* Invoices).list({ limit: MANY })
    const fitting = data.filter(wanted)
    known = fitting[Math.floor(at * fitting.length)]
    return known
  })
}

const allows =
  (action: Invoice.Invoice["availableActions"][number]): Wanted =>
  ({ availableActions }) =>
    availableActions.includes(action)

/** Issues a one-off invoice. */
const issue: PaymentCommand = {
  name: "issue",
  weight: 5,
  decide: (choice, number) => {
    const description = `command ${number}`
    const currency = choice.pick(["EUR", "USD", "JPY"])
    const amount = BigInt(choice.pick([1, 999, 2_000, 123_456]))
    return ({ customerId }) =>
      Effect.gen(function* () {
        const { create, finalize, list } = yield* Invoices
        const { data } = yield* list({ limit: MANY })
        const known = data.find(({ lines }) => lines.some((line) => line.description === description))
        const draft = known ?? (yield* create({ customerId, currency, lines: [{ description, amount }] }))
        if (draft.status === "draft") yield* finalize(draft.id)
      })
  },
}

/** Records a part of what is due, all of it, or more. */
const record: PaymentCommand = {
  name: "record",
  weight: 3,
  decide: (choice, number) => {
    const reference = `transfer ${number}`
    const share = choice.pick(["part", "all", "all", "more"] as const)
    const invoice = chosen(choice, choice.chance(0.9) ? allows("pay") : () => true)
    return ({ recorded }) =>
      Effect.gen(function* () {
        const found = yield* invoice
        if (found === undefined) return
        const due = found.amountDue > 0n ? found.amountDue : 100n
        const amount = { part: due > 1n ? due / 2n : due, all: due, more: due + 350n }[share]
        const note = (outcome: Recorded["outcome"]) =>
          recorded.set(reference, { invoiceId: found.id, reference, amount, outcome })
        note("unknown")
        const exit = yield* Effect.exit(
          (yield* Payments).record({
            invoiceId: found.id,
            amount,
            reference,
            acceptOverpayment: share === "more",
          }),
        )
        if (Exit.isSuccess(exit)) note("booked")
        yield* exit
      }).pipe(
        Effect.tapError((error) =>
          Effect.sync(() => {
            const known = recorded.get(reference)
            const isRefused = (error as { readonly _tag?: string })._tag !== "StorageError"
            if (known !== undefined && isRefused) recorded.set(reference, { ...known, outcome: "refused" })
          }),
        ),
      )
  },
}

/** Gives a part or all of an invoice back, paid or not. */
const credit: PaymentCommand = {
  name: "credit",
  weight: 2,
  decide: (choice) => {
    const invoice = chosen(choice, allows("credit"))
    const isAll = choice.chance(0.3)
    const share = BigInt(choice.int(2, 5))
    let before: number | undefined
    return () =>
      Effect.gen(function* () {
        const found = yield* invoice
        if (found === undefined) return
        const { create, list } = yield* CreditNotes
        const { length } = (yield* list({ limit: MANY, invoiceId: found.id })).data
        before ??= length
        const amount = found.subtotal / share
        if (length > before || amount === 0n) return
        yield* create({ invoiceId: found.id, reason: "other", ...(isAll ? {} : { amount }) })
      })
  },
}

/** Voids an invoice, or writes it off. */
const end = (name: "void" | "mark_uncollectible"): PaymentCommand => ({
  name,
  weight: 1,
  decide: (choice) => {
    const invoice = chosen(choice, allows(name))
    return () =>
      Effect.gen(function* () {
        const found = yield* invoice
        if (found === undefined) return
        const all = yield* Invoices
        yield* name === "void" ? all.void(found.id) : all.markUncollectible(found.id)
      })
  },
})

/** Asks for the money of an invoice now, mostly of one that takes it. */
const pay: PaymentCommand = {
  name: "pay",
  weight: 4,
  decide: (choice) => {
    const invoice = chosen(choice, choice.chance(0.9) ? allows("pay") : () => true)
    return () =>
      Effect.gen(function* () {
        const found = yield* invoice
        if (found !== undefined) yield* (yield* Payments).pay(found.id)
      })
  },
}

/** Closes an open payment at the bank. */
const cancel: PaymentCommand = {
  name: "cancel payment",
  weight: 1,
  decide: (choice) => {
    const at = choice.next()
    return () =>
      Effect.gen(function* () {
        const payments = yield* Payments
        const { data } = yield* payments.list({ limit: MANY, status: "open" })
        const found = data[Math.floor(at * data.length)]
        if (found !== undefined) yield* payments.cancel(found.id)
      })
  },
}

/**
 * Ends all subscriptions, so that nothing new is charged. One may have ended by its own time, and be listed as live until a
 * runner comes by: it can't be canceled any more, and the others are.
 */
export const cancelAll: Work = () =>
  Effect.gen(function* () {
    const { cancel, list } = yield* Subscriptions
    const { data } = yield* list({ limit: MANY })
    const live = data.filter(({ phase }) => phase !== "ended")
    yield* Effect.forEach(live, ({ id }) =>
      Effect.catchTag(cancel(id, { at: "now" }), "ActionUnavailable", () => Effect.void),
    )
  })

/** Everything that a host may do, except giving money back. */
export const COMMANDS: ReadonlyArray<PaymentCommand> = [
  issue,
  record,
  credit,
  end("void"),
  end("mark_uncollectible"),
  pay,
  cancel,
]
export { issue }
