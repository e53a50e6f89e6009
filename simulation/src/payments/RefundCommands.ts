/**
 * How a host gives money back: refunds, and credit notes that refund.
 */
import { CreditNotes, type Payment, Payments, Refunds } from "@billwright/core"
import { Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import { chosen, MANY, type PaymentCommand } from "./PaymentCommands.ts"

/** One payment of the host that has succeeded, the same in each attempt. */
const chosenPayment = (choice: Choice) => {
  const at = choice.next()
  let known: Payment.Payment | undefined
  return Effect.gen(function* () {
    if (known !== undefined) return known
    const { data } = yield* (yield* Payments).list({ limit: MANY, status: "succeeded" })
    known = data[Math.floor(at * data.length)]
    return known
  })
}

/** Gives a part or all of a payment back. */
export const refund: PaymentCommand = {
  name: "refund",
  weight: 5,
  decide: (choice) => {
    const payment = chosenPayment(choice)
    const share = choice.chance(0.5) ? undefined : BigInt(choice.int(1, 4))
    let before: number | undefined
    return () =>
      Effect.gen(function* () {
        const found = yield* payment
        if (found === undefined) return
        const { create, list } = yield* Refunds
        const { length } = (yield* list({ limit: MANY, paymentId: found.id })).data
        before ??= length
        if (length > before) return
        const amount = share === undefined ? {} : { amount: (found.amount + share) / (share + 1n) }
        yield* create({ paymentId: found.id, reason: "other", ...amount })
      })
  },
}

/** Credits a part or all of a paid invoice, and refunds as much. */
export const creditWithRefund: PaymentCommand = {
  name: "credit with refund",
  weight: 3,
  decide: (choice) => {
    const invoice = chosen(
      choice,
      ({ availableActions, status }) => status === "paid" && availableActions.includes("credit"),
    )
    const share = BigInt(choice.int(1, 3))
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
        yield* create({ invoiceId: found.id, reason: "other", amount, refund: amount })
      })
  },
}

/** Refunds the rest of what a credit note refunds, of which a refund has failed. */
export const refundOfNote: PaymentCommand = {
  name: "refund of a credit note",
  weight: 2,
  decide: (choice) => {
    const at = choice.next()
    let before: number | undefined
    return () =>
      Effect.gen(function* () {
        const { create, list } = yield* Refunds
        const all = (yield* list({ limit: MANY })).data
        const failed = all.filter(({ creditNoteId, status }) => creditNoteId !== null && status === "failed")
        const found = failed[Math.floor(at * failed.length)]
        before ??= all.length
        if (found === undefined || all.length > before) return
        const { creditNoteId, paymentId } = found
        yield* create({ paymentId, creditNoteId, reason: "other" })
      })
  },
}
