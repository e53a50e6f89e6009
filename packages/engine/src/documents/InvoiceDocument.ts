/**
 * An invoice as a document.
 */
import type { Invoice } from "../invoices/Invoice.ts"
import type { Line } from "../invoices/Line.ts"
import type { Amount, BillingDocument, DocumentLine, Fact, LineTable, Paragraph } from "./Document.ts"
import { explanationOf, formatOf, staysCharged } from "./Explanation.ts"
import { Format } from "./Format.ts"
import { localeOf } from "./Language.ts"
import { customerOf, linesOfText, paperOf, type Recipient, sellerOf } from "./Parties.ts"
import { DEFAULT_COLOR, type Seller } from "./Seller.ts"
import { daysOf, spanOf } from "./ServicePeriod.ts"
import { rateText, taxName, taxNotes, taxSummaryOf } from "./Taxes.ts"
import { fill, type Texts } from "./Texts.ts"
import { TEXTS } from "./Translations.ts"
import { unitPriceOf } from "./UnitPrice.ts"

/** What documents of a tenant have in common. */
export interface DocumentSettings {
  readonly seller: Seller | null
  /** The language of customers without one. `null`: English. */
  readonly locale: string | null
  /** The seller's time zone (IANA), in which documents are dated. */
  readonly timezone: string
}

/** A payment that succeeded. */
export interface DocumentPayment {
  readonly amount: bigint
  /** In epoch milliseconds. */
  readonly paidAt: number
}

/** A credit note of the invoice. */
export interface DocumentCreditNote {
  readonly number: string
  readonly issuedAt: number
  readonly total: bigint
  /** The part that lowered the amount due. */
  readonly waived: bigint
}

/** What an invoice's document is made from. */
export interface InvoiceDocumentInput {
  readonly invoice: Invoice
  readonly customer: Recipient
  readonly settings: DocumentSettings
  /** In the order in which they were paid. */
  readonly payments: ReadonlyArray<DocumentPayment>
  readonly creditNotes: ReadonlyArray<DocumentCreditNote>
  /** The time zones (IANA) of subscriptions, by their ids. Their service periods are dated in them. */
  readonly timezones: Readonly<Record<string, string>>
}

/** What the parts of a document share. */
export interface Writer {
  readonly texts: Texts
  readonly format: Format
  readonly settings: DocumentSettings
}

export const writerOf = (
  currency: string,
  customer: Recipient,
  settings: DocumentSettings,
): Writer & { readonly language: string } => {
  const locale = localeOf(customer.locale, settings.locale)
  return {
    language: locale.tag,
    texts: TEXTS[locale.language],
    format: new Format(locale, currency),
    settings,
  }
}

/** The time zone of a line's days: that of its subscription, or the seller's for an item. */
const zoneOfLine = (
  { origin }: Line,
  timezones: InvoiceDocumentInput["timezones"],
  settings: DocumentSettings,
): string => timezones[origin?.subscriptionId ?? ""] ?? settings.timezone

/** The time zone of the day by which a customer has to pay. */
const zoneOfPayment = ({ timezone }: Recipient, settings: DocumentSettings): string =>
  timezone ?? settings.timezone

/** What does not depend on the kind of a document. */
export const frameOf = ({ format, settings, texts }: Writer, customer: Recipient) => {
  const { seller } = settings
  return {
    color: seller?.color ?? DEFAULT_COLOR,
    paper: paperOf(seller?.country),
    logo: seller?.logo ?? null,
    seller: seller === null ? null : sellerOf(seller, texts, format),
    customer: customerOf(customer, texts, format),
    footer: linesOfText(seller?.footer),
    explanation: texts.explanation,
    page: texts.page,
    customerTimezone: zoneOfPayment(customer, settings),
  }
}

const detailsOf = (
  line: Line,
  { format, settings, texts }: Writer,
  timezones: Readonly<Record<string, string>>,
) => {
  const { kind, origin, periodEnd, periodStart } = line
  const period =
    periodStart === null || periodEnd === null
      ? ""
      : format.period(periodStart, periodEnd, zoneOfLine(line, timezones, settings))
  // Alone, it would look like the time that is given back.
  const told = period !== "" && staysCharged(line) ? fill(texts.staysCharged, { period }) : period
  return [origin?.group ?? "", told, texts.kinds[kind]].filter((detail) => detail !== "")
}

const lineOf = (line: Line, writer: Writer, timezones: Readonly<Record<string, string>>): DocumentLine => {
  const { format, texts } = writer
  const price = unitPriceOf(line)
  return {
    description: line.kind === "true_up" ? texts.minimum : line.description,
    details: detailsOf(line, writer, timezones),
    quantity: line.quantity === null ? null : format.number(line.quantity),
    unitPrice: price === null ? null : formatOf(line, format).price(price),
    tax: rateText(line.tax, format),
    amount: format.money(line.amount),
    explanation: explanationOf(line, texts, format),
  }
}

/** Lines with the headings of the columns that they use. */
export const tableOf = (
  rows: ReadonlyArray<DocumentLine>,
  taxHeading: string,
  { texts }: Writer,
): LineTable => {
  const heading = (text: string, isUsed: (row: DocumentLine) => boolean) => (rows.some(isUsed) ? text : null)
  return {
    caption: texts.lines,
    description: texts.description,
    quantity: heading(texts.quantity, ({ quantity }) => quantity !== null),
    unitPrice: heading(texts.unitPrice, ({ unitPrice }) => unitPrice !== null),
    tax: heading(taxHeading, ({ tax }) => tax !== null),
    amount: texts.amount,
    rows,
  }
}

/** The heading of the rates: the name of the first tax. */
export const taxHeadingOf = (lines: ReadonlyArray<Pick<Line, "tax">>, { settings, texts }: Writer): string =>
  lines[0] === undefined ? texts.tax : taxName(lines[0].tax, settings.seller?.country, texts)

const discountsOf = ({ discounts }: Invoice, { format, texts }: Writer): ReadonlyArray<Amount> =>
  discounts.map(({ amount, name, percent, type }) => {
    const coupon =
      percent === null
        ? [texts.coupon, name].filter(Boolean).join(" ")
        : fill(texts.couponOfPercent, { name: name ?? "", percent: format.percent(percent) })
    return {
      label: type === "coupon" ? coupon : texts.promotionalCredit,
      value: format.money(-amount),
      kind: "part",
    }
  })

/** The rows of taxes: added to exclusive amounts, and part of inclusive ones. */
export const taxAmounts = (
  { taxBehavior, taxes }: Pick<Invoice, "taxBehavior" | "taxes">,
  { format, settings, texts }: Writer,
): ReadonlyArray<Amount> =>
  taxes
    .filter(({ category }) => category === "S")
    .map((tax) => ({
      label: fill(taxBehavior === "exclusive" ? texts.taxOn : texts.included, {
        tax: taxName(tax, settings.seller?.country, texts),
        rate: format.percent(tax.rate),
        taxable: format.money(tax.taxable),
      }),
      value: format.money(tax.amount),
      kind: taxBehavior === "exclusive" ? "part" : "info",
    }))

const appliedOf = ({ applied, credited }: Invoice, { format, texts }: Writer): ReadonlyArray<Amount> => {
  const taken = (type: "credit_balance" | "paid_credit") =>
    applied.filter((one) => one.type === type).reduce((sum, { amount }) => sum + amount, 0n)
  const rows = [
    { label: texts.creditBalance, amount: -taken("credit_balance") },
    { label: texts.paidCredit, amount: -taken("paid_credit") },
    { label: texts.credited, amount: credited },
  ]
  return rows
    .filter(({ amount }) => amount !== 0n)
    .map(({ amount, label }) => ({ label, value: format.money(amount), kind: "part" }))
}

const paidOf = (
  { creditNotes, invoice, payments }: InvoiceDocumentInput,
  { format, settings, texts }: Writer,
): ReadonlyArray<Amount> => {
  const paid = payments.reduce((sum, { amount }) => sum + amount, 0n)
  const back = paid - invoice.amountPaid
  return [
    ...payments.map(({ amount, paidAt }) => ({
      label: fill(texts.paidOn, { date: format.date(paidAt, settings.timezone) }),
      amount: -amount,
    })),
    { label: texts.returned, amount: back },
    ...creditNotes.map(({ number, waived }) => ({
      label: fill(texts.byCreditNote, { number }),
      amount: -waived,
    })),
  ]
    .filter(({ amount }) => amount !== 0n)
    .map(({ amount, label }) => ({ label, value: format.money(amount), kind: "part" }))
}

/** The rows from the lines to what is due. */
const totalsOf = (input: InvoiceDocumentInput, writer: Writer): ReadonlyArray<Amount> => {
  const { invoice } = input
  const { format, texts } = writer
  const row = (label: string, amount: bigint, kind: Amount["kind"]): Amount => ({
    label,
    value: format.money(amount),
    kind,
  })
  const discounts = discountsOf(invoice, writer)
  const taxes = taxAmounts(invoice, writer)
  const isAdded = invoice.taxBehavior === "exclusive"
  const net = invoice.total - invoice.tax
  const before = [...appliedOf(invoice, writer), ...paidOf(input, writer)]
  return [
    ...(discounts.length > 0 || (isAdded && taxes.length > 0) || before.length > 0
      ? [row(texts.subtotal, invoice.subtotal, "part")]
      : []),
    ...discounts,
    ...(isAdded && taxes.length > 0 && discounts.length > 0 ? [row(texts.net, net, "part")] : []),
    ...(isAdded ? taxes : []),
    row(texts.total, invoice.total, "sum"),
    ...(isAdded ? [] : taxes),
    ...before,
    row(texts.amountDue, invoice.status === "void" ? 0n : invoice.amountDue, "due"),
  ]
}

/** The day by which an invoice has to be paid: a day of the customer. */
const dueOn = ({ customer, invoice: { dueAt } }: InvoiceDocumentInput, { format, settings }: Writer) =>
  dueAt === null ? null : format.date(dueAt, zoneOfPayment(customer, settings))

/** Whether subscriptions of the lines have several time zones. An item has no subscription, so it doesn't count. */
const hasSeveralZones = (
  lines: ReadonlyArray<Line>,
  timezones: InvoiceDocumentInput["timezones"],
  settings: DocumentSettings,
): boolean => {
  const dated = lines.filter(
    ({ origin, periodEnd, periodStart }) => origin !== null && periodStart !== null && periodEnd !== null,
  )
  return new Set(dated.map((line) => zoneOfLine(line, timezones, settings))).size > 1
}

/**
 * The span of the lines' service periods, each dated in its own time zone. Where their subscriptions have several, the days of
 * the span would be those of none of them, so only the lines say theirs.
 */
const servicePeriodOf = (
  { invoice: { lines }, timezones }: InvoiceDocumentInput,
  { format, settings }: Writer,
) => {
  if (hasSeveralZones(lines, timezones, settings)) return null
  const span = spanOf(
    lines.map((line) => {
      const { periodEnd, periodStart } = line
      return periodStart === null || periodEnd === null
        ? null
        : daysOf(periodStart, periodEnd, zoneOfLine(line, timezones, settings))
    }),
  )
  return span === null ? null : format.days(span)
}

const factsOf = (input: InvoiceDocumentInput, writer: Writer): ReadonlyArray<Fact> => {
  const { invoice } = input
  const { format, settings, texts } = writer
  const { issuedAt, number } = invoice
  const on = (instant: number | null) => (instant === null ? null : format.date(instant, settings.timezone))
  return [
    { label: texts.number, value: number },
    { label: texts.issuedOn, value: on(issuedAt) },
    { label: texts.dueOn, value: invoice.amountDue > 0n ? dueOn(input, writer) : null },
    { label: texts.servicePeriod, value: servicePeriodOf(input, writer) },
  ].filter((fact): fact is Fact => fact.value !== null)
}

const STAMPS = { draft: "draft", void: "void", paid: "paid", open: null, uncollectible: null } as const

const paymentOf = (input: InvoiceDocumentInput, writer: Writer): Paragraph | null => {
  const { amountDue, number, status } = input.invoice
  const { format, settings, texts } = writer
  const date = dueOn(input, writer)
  if (amountDue <= 0n || (status !== "open" && status !== "uncollectible")) return null
  if (date === null || number === null) return null
  return {
    heading: texts.payment,
    lines: [
      fill(texts.payBy, { amount: format.money(amountDue), date }),
      ...linesOfText(settings.seller?.paymentInstructions),
      fill(texts.reference, { number }),
    ],
  }
}

const creditNotesOf = (
  { creditNotes }: InvoiceDocumentInput,
  { format, settings, texts }: Writer,
): Paragraph | null =>
  creditNotes.length === 0
    ? null
    : {
        heading: texts.creditNotes,
        lines: creditNotes.map(({ issuedAt, number, total }) =>
          fill(texts.creditNoteOf, {
            number,
            date: format.date(issuedAt, settings.timezone),
            total: format.money(total),
          }),
        ),
      }

/** Writes an invoice. The same input always gives the same document, on the same release of Unicode's data. */
export const invoiceDocument = (input: InvoiceDocumentInput): BillingDocument => {
  const { customer, invoice, settings, timezones } = input
  const { language, ...writer } = writerOf(invoice.currency, customer, settings)
  const { format, texts } = writer
  const kind = STAMPS[invoice.status]
  const rows = invoice.lines.map((line) => lineOf(line, writer, timezones))
  return {
    ...frameOf(writer, customer),
    language,
    title: [texts.invoice, invoice.number ?? `(${texts.draft})`].join(" "),
    heading: texts.invoice,
    stamp: kind === null ? null : { kind, text: texts[kind] },
    facts: factsOf(input, writer),
    lines: tableOf(rows, taxHeadingOf(invoice.lines, writer), writer),
    totals: totalsOf(input, writer),
    taxes: taxSummaryOf(invoice.taxes, settings.seller?.country, texts, format),
    notes: taxNotes(
      invoice.lines.map(({ tax }) => tax),
      texts,
    ),
    creditNotes: creditNotesOf(input, writer),
    payment: paymentOf(input, writer),
    issuedAt: invoice.issuedAt,
  }
}
