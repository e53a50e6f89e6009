/**
 * Invoices and credit notes as EN 16931-1 has them: as they were issued. What was paid or credited later is not in them, so
 * the same document always gives the same e-invoice.
 */
import { spanOf } from "../documents/ServicePeriod.ts"
import * as Currency from "../money/Currency.ts"
import * as Exact from "../money/Exact.ts"
import { creditLines, creditNets, invoiceLines } from "./Lines.ts"
import type { EInvoiceResult, En16931Invoice, EnLine } from "./Model.ts"
import { buyerOf, paymentOf, sellerOf } from "./Parties.ts"
import {
  amountWriter,
  collect,
  dayOf,
  type EInvoiceCreditNoteInput,
  type EInvoiceInput,
  type Missing,
  MOST_DECIMALS,
  textOf,
} from "./Source.ts"
import { taxesOf } from "./Taxes.ts"

/** The amounts fit the norm if none has more than two decimals. */
const checkDecimals = (
  currency: string,
  digits: number,
  amounts: ReadonlyArray<bigint>,
  missing: Missing,
): void => {
  if (digits <= MOST_DECIMALS) return
  const unit = Exact.powerOfTen(digits - MOST_DECIMALS)
  if (amounts.every((amount) => amount % unit === 0n)) return
  missing(
    "BT-5",
    "Invoice currency code",
    "currency",
    `is ${currency}, whose amounts here have more than the ${MOST_DECIMALS} decimals of the norm`,
  )
}

type Dated = Pick<
  En16931Invoice,
  "number" | "issueDate" | "typeCode" | "dueDate" | "terms" | "preceding" | "payment"
>

/** What invoices and credit notes have in common. */
interface Common {
  readonly dated: Dated
  readonly lines: ReadonlyArray<EnLine>
  readonly amounts: ReadonlyArray<bigint>
  readonly settled: bigint
  readonly digits: number
}

const documentOf = (
  of: EInvoiceInput["invoice"] | EInvoiceCreditNoteInput["creditNote"],
  { customer, settings: { seller } }: Pick<EInvoiceInput, "customer" | "settings">,
  { amounts, dated, digits, lines, settled }: Common,
  { found, missing }: ReturnType<typeof collect>,
): EInvoiceResult => {
  const { currency, tax, taxes, total } = of
  const write = amountWriter(digits)
  const categories = new Set(taxes.map(({ category }) => category))
  const taxParts = taxes.flatMap(({ amount, taxable }) => [amount, taxable])
  checkDecimals(currency, digits, [...amounts, ...taxParts, total, settled], missing)
  const period = spanOf(lines.map((line) => line.period))
  const isWithinUnion = categories.has("K")
  if (isWithinUnion && period === null) {
    missing(
      "BG-14",
      "Invoicing period",
      "lines.periodStart",
      "is required on one line at least in category K, because the day of delivery is not known",
    )
  }
  const made = {
    seller: sellerOf(seller, categories, missing),
    buyer: buyerOf(customer, categories, missing),
    taxes: taxesOf(of, digits, missing),
  }
  if (made.seller === undefined || found.length > 0) return { type: "problems", problems: found }
  const net = write(total - tax)
  return {
    type: "document",
    document: {
      ...dated,
      ...made,
      seller: made.seller,
      currency,
      notes: [textOf(seller?.footer)].filter((note) => note !== null),
      period,
      deliveryCountry: isWithinUnion ? customer.country : null,
      totals: {
        lines: net,
        net,
        tax: write(tax),
        gross: write(total),
        paid: write(settled),
        due: write(total - settled),
      },
      lines,
    },
  }
}

const refused = (term: string, name: string, field: string, problem: string): EInvoiceResult => ({
  type: "problems",
  problems: [{ term, name, field, problem }],
})

/** The amounts that lines have. Those that contain their tax are given after discounts, and so have no allowances. */
const amountsOf = ({ discounts, lines, taxBehavior }: EInvoiceInput["invoice"]): ReadonlyArray<bigint> => [
  ...lines.flatMap(({ amount, discount, net }) => [amount, discount, net]),
  ...(taxBehavior === "exclusive" ? discounts.flatMap(({ parts }) => parts.map(({ amount }) => amount)) : []),
]

const ofInvoice = (input: EInvoiceInput): EInvoiceResult => {
  const { customer, invoice, settings } = input
  const { currency, dueAt, issuedAt, number, status } = invoice
  if (status === "draft" || number === null || issuedAt === null) {
    return refused("BT-1", "Invoice number", "status", "is draft: finalize the invoice first")
  }
  if (status === "void") {
    return refused("BT-115", "Amount due for payment", "status", "is void: nothing of the invoice is due")
  }
  const digits = Currency.exponentOf(currency) ?? MOST_DECIMALS
  // A total below 0 was credited to the customer: nothing is left to pay.
  const settled = invoice.applied.reduce((sum, { amount }) => sum + amount, 0n) - invoice.credited
  const due = invoice.total - settled
  const dueDate = due > 0n && dueAt !== null ? dayOf(dueAt, customer.timezone ?? settings.timezone) : null
  return documentOf(
    invoice,
    input,
    {
      dated: {
        number,
        issueDate: dayOf(issuedAt, settings.timezone),
        typeCode: "380",
        dueDate,
        terms: due > 0n && dueDate === null ? "Payable on receipt" : null,
        preceding: null,
        payment: due > 0n ? paymentOf(settings.seller, currency, number) : null,
      },
      lines: invoiceLines(input, amountWriter(digits), digits),
      amounts: amountsOf(invoice),
      settled,
      digits,
    },
    collect(),
  )
}

const ofCreditNote = (input: EInvoiceCreditNoteInput): EInvoiceResult => {
  const { creditNote, invoice, settings } = input
  const { currency, issuedAt, lines, number, refund, taxBehavior, taxes, toBalance, waived } = creditNote
  const digits = Currency.exponentOf(currency) ?? MOST_DECIMALS
  const preceding =
    invoice.number === null || invoice.issuedAt === null
      ? null
      : { number: invoice.number, issueDate: dayOf(invoice.issuedAt, settings.timezone) }
  return documentOf(
    creditNote,
    input,
    {
      dated: {
        number,
        issueDate: dayOf(issuedAt, settings.timezone),
        typeCode: "381",
        dueDate: null,
        terms: refund > 0n ? "Paid back to the buyer by the way it was paid" : null,
        preceding,
        payment: null,
      },
      lines: creditLines(input, amountWriter(digits)),
      amounts: creditNets(lines, taxes, taxBehavior),
      settled: waived + toBalance,
      digits,
    },
    collect(),
  )
}

/**
 * An issued invoice or a credit note in the model of EN 16931-1, or all that it lacks. A draft and a void invoice are
 * refused. The same input always gives the same result.
 *
 * Amounts are exact. The tax is that of the document: rounded once for each rate, over rounded lines. Discounts are
 * allowances of their lines; amounts that contain their tax are given without it and after discounts. Money back is a line
 * with a quantity below 0. What credits of the customer paid at once is the paid amount (BT-113).
 */
export const toEn16931 = (input: EInvoiceInput | EInvoiceCreditNoteInput): EInvoiceResult =>
  "creditNote" in input ? ofCreditNote(input) : ofInvoice(input)
