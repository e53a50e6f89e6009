/**
 * The operations of payments (see `Operations`).
 */
import {
  ActionUnavailable,
  ExactJson,
  Invoices,
  type Payment,
  Payments,
  paymentView,
  type StartedPayment,
  type Tenant,
} from "@billwright/core"
import { Effect } from "effect"
import type { PaymentBody } from "../api/PaymentsApi.ts"
import { customerAction } from "./CustomerAction.ts"
import { created, ok } from "./HttpExchange.ts"
import { invoice } from "./InvoiceOperations.ts"
import { IsRepeat, type OperationsOf } from "./Operation.ts"
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

const startedPayment = ({ invoice: paid, ...action }: StartedPayment, tenant: Tenant.Tenant) => ({
  object: "invoice_payment" as const,
  invoice: invoice(paid, tenant),
  ...customerAction(action),
  livemode: tenant.mode === "live",
})

/** Gives one of two effects: for a first request, or for its repeat. */
const orRepeated = <A, E, R, B, E2, R2>(first: Effect.Effect<A, E, R>, repeat: Effect.Effect<B, E2, R2>) =>
  Effect.flatMap(IsRepeat, (isRepeat): Effect.Effect<A | B, E | E2, R | R2> => (isRepeat ? repeat : first))

export const make: Effect.Effect<OperationsOf<"payments">, never, Invoices | Payments> = Effect.gen(
  function* () {
    const payments = yield* Payments
    const invoices = yield* Invoices

    /** How a payment stands that was started before. What the customer confirms it with is stored nowhere. */
    const started = (id: string) =>
      Effect.flatMap(invoices.get(id), (found) =>
        found.collection === "awaiting_customer"
          ? Effect.fail(
              new ActionUnavailable({
                object: "invoice",
                id,
                problem:
                  "a request with this Idempotency-Key has started its payment, which waits for the customer: start it again with another key",
              }),
            )
          : Effect.succeed({ invoice: found, clientSecret: null, url: null }),
      )

    return {
      recordPayment: ({ payload }, tenant) =>
        Effect.map(payments.record(payload), (value) => created(payment(value, tenant))),
      payInvoice: ({ params, payload }, tenant) =>
        Effect.map(orRepeated(payments.pay(params.id, payload), invoices.get(params.id)), (value) =>
          ok(invoice(value, tenant)),
        ),
      startInvoicePayment: ({ params, payload }, tenant) =>
        Effect.map(orRepeated(payments.startPayment(params.id, payload), started(params.id)), (value) =>
          ok(startedPayment(value, tenant)),
        ),
      cancelPayment: ({ params }, tenant) =>
        Effect.map(payments.cancel(params.id), (value) => ok(payment(value, tenant))),
      listPayments: ({ query }, tenant) =>
        Effect.map(payments.list(query), (page) => ok(Render.list(page, tenant, payment))),
      getPayment: ({ params }, tenant) =>
        Effect.map(payments.get(params.id), (value) => ok(payment(value, tenant))),
    }
  },
)
