/**
 * The operations of payments (see `Operations`).
 */
import { ExactJson, type Payment, Payments, paymentView, type Tenant } from "@billwright/core"
import { Effect } from "effect"
import type { PaymentBody } from "../api/PaymentsApi.ts"
import { customerAction } from "./CustomerAction.ts"
import { created, ok } from "./HttpExchange.ts"
import { invoice } from "./InvoiceOperations.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"

const { integer } = ExactJson

const payment = (value: Payment.Payment, tenant: Tenant.Tenant): typeof PaymentBody.Encoded => {
  const view = paymentView(value)
  return {
    object: "payment",
    id: view.id,
    invoice_id: view.invoiceId,
    customer_id: view.customerId,
    currency: view.currency,
    provider: view.provider,
    reference: view.reference,
    status: view.status,
    amount: integer(view.amount),
    applied: integer(view.applied),
    overpaid: integer(view.overpaid),
    paid_at: Render.instantOrNull(view.paidAt),
    attention:
      view.attention === null ? null : { ...view.attention, since: Render.instant(view.attention.since) },
    sequence: view.sequence,
    livemode: tenant.mode === "live",
    created_at: Render.instant(view.createdAt),
    updated_at: Render.instant(view.updatedAt),
  }
}

export const make: Effect.Effect<OperationsOf<"payments">, never, Payments> = Effect.map(
  Payments,
  (payments) => ({
    recordPayment: ({ payload }, tenant) =>
      Effect.map(payments.record(payload), (value) => created(payment(value, tenant))),
    payInvoice: ({ params, payload }, tenant) =>
      Effect.map(payments.pay(params.id, payload), (value) => ok(invoice(value, tenant))),
    startInvoicePayment: ({ params, payload }, tenant) =>
      Effect.map(payments.startPayment(params.id, payload), ({ invoice: paid, ...action }) =>
        ok({
          object: "invoice_payment",
          invoice: invoice(paid, tenant),
          ...customerAction(action),
          livemode: tenant.mode === "live",
        }),
      ),
    cancelPayment: ({ params }, tenant) =>
      Effect.map(payments.cancel(params.id), (value) => ok(payment(value, tenant))),
    listPayments: ({ query }, tenant) =>
      Effect.map(payments.list(query), (page) => ok(Render.list(page, tenant, payment))),
    getPayment: ({ params }, tenant) =>
      Effect.map(payments.get(params.id), (value) => ok(payment(value, tenant))),
  }),
)
