/**
 * Implements `billing.invoices`.
 */
import {
  Documents,
  Invoice as Core,
  Invoices as InvoicesService,
  invoiceView,
  type PayerLink,
  PayerLinks,
  Payments as PaymentsService,
  SUBSCRIPTION_ID_PREFIX,
} from "@billwright/core"
import { Effect, Redacted } from "effect"
import { shown } from "../payments/ProviderBridge.ts"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toAmount, toInput, toInstant, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { CreateInvoice, GivenInvoiceLine, Invoices } from "./Invoices.ts"

/** A link with its address, which is for the caller alone. */
export const shownLink = ({ expiresAt, url }: PayerLink) => ({ url: Redacted.value(url), expiresAt })

const toId = Ids.of(Core.INVOICE_ID_PREFIX)
const toSubscriptionId = Ids.of(SUBSCRIPTION_ID_PREFIX)

/** The service refuses a line that is not an object. */
const toLine = (line: GivenInvoiceLine, index: number): object => {
  if (typeof line !== "object" || line === null) return line
  const { amount, periodEnd, periodStart, ...fields } = line
  const instantOrNull = (value: typeof periodEnd, name: string) =>
    value === undefined || value === null ? value : toInstant(value, `lines[${index}].${name}`)
  return toInput({
    ...fields,
    amount: toAmount(amount),
    periodStart: instantOrNull(periodStart, "periodStart"),
    periodEnd: instantOrNull(periodEnd, "periodEnd"),
  })
}

const toCreate = (input: CreateInvoice) =>
  toInput<never>(Array.isArray(input?.lines) ? { ...input, lines: input.lines.map(toLine) } : input)

export const makeInvoices = (calls: Calls): Invoices => {
  const invoices = calls.service(InvoicesService)
  const payments = calls.service(PaymentsService)
  const documents = calls.service(Documents)
  const links = calls.service(PayerLinks)
  return {
    get: (id, options) => calls.run(() => Effect.map(invoices.get(toId(id)), invoiceView), options),
    list: (query, options) =>
      makeListing(query, (page) =>
        calls.run(
          () =>
            Effect.map(invoices.list(toOptionalInput(page)), ({ data, hasMore }) => ({
              data: data.map(invoiceView),
              hasMore,
            })),
          options,
        ),
      ),
    records: (id, lineId, query, options) =>
      makeListing(query, (page) =>
        calls.run(() => invoices.records(toId(id), lineId, toOptionalInput(page)), options),
      ),
    upcoming: (subscriptionId, options) =>
      calls.run(
        () =>
          Effect.map(invoices.upcoming(toSubscriptionId(subscriptionId)), (found) =>
            found === null ? null : invoiceView(found),
          ),
        options,
      ),
    create: (input, options) =>
      calls.run(() => Effect.map(invoices.create(toCreate(input)), invoiceView), options),
    finalize: (id, options) => calls.run(() => Effect.map(invoices.finalize(toId(id)), invoiceView), options),
    delete: (id, options) => calls.run(() => invoices.delete(toId(id)), options),
    void: (id, options) => calls.run(() => Effect.map(invoices.void(toId(id)), invoiceView), options),
    pay: (id, input, options) =>
      calls.run(() => Effect.map(payments.pay(toId(id), toOptionalInput(input)), invoiceView), options),
    pdf: (id, options) =>
      calls.runAsIs(() => Effect.flatMap(documents.invoice(toId(id)), documents.pdf), options),
    ubl: (id, options) =>
      calls.run(() => Effect.flatMap(documents.invoiceAsEInvoice(toId(id)), documents.ubl), options),
    cii: (id, options) =>
      calls.run(() => Effect.flatMap(documents.invoiceAsEInvoice(toId(id)), documents.cii), options),
    facturX: (id, options) =>
      calls.runAsIs(() => Effect.flatMap(documents.invoiceAsEInvoice(toId(id)), documents.facturX), options),
    html: (id, options) =>
      calls.run(
        () =>
          documents.invoice(toId(id)).pipe(
            Effect.flatMap(documents.page),
            Effect.map(({ html }) => html),
          ),
        options,
      ),
    startPayment: (id, input, options) =>
      calls.run(
        () =>
          Effect.map(payments.startPayment(toId(id), toOptionalInput(input)), ({ invoice, ...action }) => ({
            invoice: invoiceView(invoice),
            ...shown(action),
          })),
        options,
      ),
    link: (id, input, options) =>
      calls.run(() => Effect.map(links.invoice(toId(id), toOptionalInput(input)), shownLink), options),
    markUncollectible: (id, options) =>
      calls.run(() => Effect.map(invoices.markUncollectible(toId(id)), invoiceView), options),
  }
}
