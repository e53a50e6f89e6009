/**
 * Refunds of what credit notes refund: the newest payments of the invoice first.
 */
import { DateTime, Effect, Layer } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import type { CreditNote } from "../invoices/CreditNote.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { Refunding } from "../invoices/Refunding.ts"
import { MANUAL_PROVIDER } from "../payments/Payment.ts"
import { CurrentProvider } from "../payments/PaymentProvider.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import { MAX_REFUNDS } from "../payments/Refund.ts"
import { creditable, makeRefundBook } from "../payments/RefundBook.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import { Collections } from "../shared/Collections.ts"
import { DueStore } from "./DueStore.ts"

export const layer = Layer.effect(
  Refunding,
  Effect.gen(function* () {
    const provider = yield* CurrentProvider
    const book = yield* makeRefundBook
    const paymentPort = yield* optionalPort(PaymentStore)
    const invoicePort = yield* optionalPort(InvoiceStore)
    const duePort = yield* optionalPort(DueStore)
    const time = new CustomerTime(yield* Collections)

    const refund = Effect.fnUntraced(function* ({
      customerId,
      id,
      invoiceId,
      reason,
      refund: asked,
    }: CreditNote) {
      const [payments, invoices, due] = [yield* paymentPort, yield* invoicePort, yield* duePort]
      const { epochMilliseconds: now } = yield* DateTime.now
      const invoice = yield* Effect.orDie(Effect.flatMap(invoices.find(invoiceId), Effect.fromOption))
      let left = asked
      for (const payment of (yield* payments.ofInvoice(invoiceId)).toReversed()) {
        const isReachable = payment.provider === MANUAL_PROVIDER || payment.provider === provider?.name
        if (left === 0n || payment.status !== "succeeded" || !isReachable) continue
        const returned = yield* book.returnedOf(payment.id)
        const most = returned.refunds.length < MAX_REFUNDS ? creditable(payment, returned) : 0n
        const amount = most < left ? most : left
        if (amount === 0n) continue
        const made = yield* time.within(
          customerId,
          book.create(payment, invoice, { amount, reason, creditNoteId: id }),
        )
        if (made.status === "pending") yield* due.schedule({ kind: "refund", id: made.id }, now)
        left -= amount
      }
      if (left === 0n) return
      const problem = `credit is not possible: only ${asked - left} of its payments can be refunded now`
      return yield* new ActionUnavailable({ object: "invoice", id: invoiceId, problem })
    })

    return { refund }
  }),
)
