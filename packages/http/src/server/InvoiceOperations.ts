/**
 * The operations of invoices (see `Operations`).
 */
import {
  Documents,
  ExactJson,
  type Invoice,
  type InvoiceLineView,
  Invoices,
  invoiceView,
  type InvoiceView,
  type Tenant,
} from "@billwright/core"
import { Effect } from "effect"
import type { InvoiceBody } from "../api/InvoiceBody.ts"
import * as DocumentAnswer from "./DocumentAnswer.ts"
import { created, ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"

type Body = typeof InvoiceBody.Encoded
type LineBody = Body["lines"][number]

const { integer } = ExactJson

const receiptOf = ({ receipt }: InvoiceLineView): LineBody["receipt"] =>
  receipt === null
    ? null
    : {
        meter: receipt.meter,
        where: receipt.where,
        period_start: Render.instant(receipt.periodStart),
        period_end: Render.instant(receipt.periodEnd),
        total: receipt.total,
        record_count: receipt.recordCount,
      }

export const taxRate = ({ category, country, rate, reason }: LineBody["tax"]): LineBody["tax"] => ({
  category,
  rate,
  country,
  reason,
})

const lineOf = (line: InvoiceLineView): LineBody => ({
  id: line.id,
  kind: line.kind,
  charge: line.charge,
  description: line.description,
  subscription_id: line.subscriptionId as LineBody["subscription_id"],
  plan: line.plan,
  group: line.group,
  period_start: Render.instantOrNull(line.periodStart),
  period_end: Render.instantOrNull(line.periodEnd),
  quantity: line.quantity,
  amount: integer(line.amount),
  discount: integer(line.discount),
  net: integer(line.net),
  tax: taxRate(line.tax),
  credit_of:
    line.creditOf === null ? null : { invoice_id: line.creditOf.invoiceId, line_id: line.creditOf.lineId },
  burns: line.burns === null ? null : { ...line.burns, amount: integer(line.burns.amount) },
  steps: line.steps,
  receipt: receiptOf(line),
})

const discountOf = (discount: InvoiceView["discounts"][number]): Body["discounts"][number] => ({
  type: discount.type,
  id: discount.id,
  name: discount.name,
  percent: discount.percent,
  base: integer(discount.base),
  amount: integer(discount.amount),
  parts: discount.parts.map(({ amount, lineId }) => ({ line_id: lineId, amount: integer(amount) })),
})

export const invoice = (value: Invoice.Invoice, tenant: Tenant.Tenant): Body => {
  const view = invoiceView(value)
  return {
    object: "invoice",
    id: view.id,
    number: view.number,
    status: view.status,
    customer_id: view.customerId,
    subscription_id: view.subscriptionId,
    subscription_ids: view.subscriptionIds,
    currency: view.currency,
    period_start: Render.instantOrNull(view.periodStart),
    period_end: Render.instantOrNull(view.periodEnd),
    lines: view.lines.map(lineOf),
    discounts: view.discounts.map(discountOf),
    tax_behavior: view.taxBehavior,
    subtotal: integer(view.subtotal),
    tax: integer(view.tax),
    taxes: view.taxes.map((tax) => ({
      ...taxRate(tax),
      taxable: integer(tax.taxable),
      amount: integer(tax.amount),
    })),
    total: integer(view.total),
    applied: view.applied.map(({ amount, id, type }) => ({ type, id, amount: integer(amount) })),
    credited: integer(view.credited),
    amount_paid: integer(view.amountPaid),
    amount_credited: integer(view.amountCredited),
    amount_waived: integer(view.amountWaived),
    amount_due: integer(view.amountDue),
    issued_at: Render.instantOrNull(view.issuedAt),
    due_at: Render.instantOrNull(view.dueAt),
    finalizes_at: Render.instantOrNull(view.finalizesAt),
    failure: Render.dueFailure(view.failure),
    past_due_since: Render.instantOrNull(view.pastDueSince),
    collection: view.collection,
    available_actions: view.availableActions,
    sequence: view.sequence,
    livemode: tenant.mode === "live",
    created_at: Render.instant(view.createdAt),
    updated_at: Render.instant(view.updatedAt),
  }
}

export const make: Effect.Effect<OperationsOf<"invoices">, never, Documents | Invoices> = Effect.gen(
  function* () {
    const invoices = yield* Invoices
    const documents = yield* Documents
    const answer = (tenant: Tenant.Tenant) => (value: Invoice.Invoice) => ok(invoice(value, tenant))
    return {
      listInvoices: ({ query }, tenant) =>
        Effect.map(invoices.list(query), (page) => ok(Render.list(page, tenant, invoice))),
      getInvoice: ({ params }, tenant) => Effect.map(invoices.get(params.id), answer(tenant)),
      createInvoice: ({ payload }, tenant) =>
        Effect.map(invoices.create(payload), (value) => created(invoice(value, tenant))),
      getInvoiceHtml: ({ params }) =>
        documents.invoice(params.id).pipe(Effect.flatMap(documents.page), Effect.map(DocumentAnswer.page)),
      getInvoicePdf: ({ params }) =>
        documents.invoice(params.id).pipe(Effect.flatMap(documents.pdf), Effect.map(DocumentAnswer.pdf)),
      getInvoiceUbl: ({ params }) =>
        documents
          .invoiceAsEInvoice(params.id)
          .pipe(Effect.flatMap(documents.ubl), Effect.map(DocumentAnswer.xml)),
      getInvoiceCii: ({ params }) =>
        documents
          .invoiceAsEInvoice(params.id)
          .pipe(Effect.flatMap(documents.cii), Effect.map(DocumentAnswer.xml)),
      getInvoiceFacturX: ({ params }) =>
        documents
          .invoiceAsEInvoice(params.id)
          .pipe(Effect.flatMap(documents.facturX), Effect.map(DocumentAnswer.pdf)),
      getUpcomingInvoice: ({ query: { subscriptionId } }, tenant) =>
        Effect.map(invoices.upcoming(subscriptionId), (value) =>
          ok({
            object: "upcoming_invoice",
            subscription_id: subscriptionId,
            invoice: value === null ? null : invoice(value, tenant),
          }),
        ),
      listInvoiceLineRecords: ({ params, query }, tenant) =>
        Effect.map(invoices.records(params.id, params.line, query), (page) =>
          ok(Render.list(page, tenant, Render.usageRecord)),
        ),
      finalizeInvoice: ({ params }, tenant) => Effect.map(invoices.finalize(params.id), answer(tenant)),
      deleteInvoice: ({ params: { id } }) =>
        Effect.as(invoices.delete(id), ok({ object: "invoice", id, deleted: true })),
      voidInvoice: ({ params }, tenant) => Effect.map(invoices.void(params.id), answer(tenant)),
      markInvoiceUncollectible: ({ params }, tenant) =>
        Effect.map(invoices.markUncollectible(params.id), answer(tenant)),
    }
  },
)
