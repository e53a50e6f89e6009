/**
 * Invoices to make documents of.
 */
import {
  type Charge,
  creditNoteAmounts,
  type CreditNoteDocumentInput,
  type DocumentSettings,
  type Invoice,
  type InvoiceDocumentInput,
  type LineInput,
  rate,
  type Recipient,
  type TaxRate,
} from "../../src/index.ts"
import { after, issued, line, linesOf, originOf, standard } from "../invoices/Documents.ts"

/** One pixel. */
export const LOGO =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

export const settings: DocumentSettings = {
  locale: "en",
  timezone: "Europe/Berlin",
  seller: {
    name: "Nordlicht Software GmbH",
    address: { line1: "Hafenstraße 12", city: "Hamburg", postcode: "20359" },
    country: "DE",
    taxId: "DE123456789",
    registration: "HRB 98765, Amtsgericht Hamburg",
    contact: "billing@nordlicht.example\nnordlicht.example",
    color: "#0b7285",
    paymentInstructions: "IBAN DE02 1203 0000 0000 2020 51\nBIC BYLADEM1001",
    footer: "Managing director: Jane Doe",
  },
}

export const customer: Recipient = {
  name: "Ada Lovelace Ltd",
  address: { line1: "Rue de la Loi 200", city: "Bruxelles", postcode: "1000" },
  country: "BE",
  taxId: "BE0123456789",
  locale: "en",
  timezone: null,
}

const CALLS: Charge = {
  key: "calls",
  name: "API calls",
  model: "graduated",
  meter: "calls",
  free: "100",
  tiers: [
    { up_to: "1000", price: { EUR: "0.01", JPY: "2", KWD: "0.005" } },
    { price: { EUR: "0.002", JPY: "0.4", KWD: "0.001" } },
  ],
}

/** A line of usage, with its steps. */
export const usage = (
  id: string,
  quantity: string,
  currency: string,
  more: Partial<LineInput> = {},
): LineInput => {
  const { amount, steps } = rate(CALLS, quantity, { currency })
  return line(id, amount, {
    kind: "usage",
    origin: originOf("pro"),
    charge: "calls",
    description: "API calls",
    periodStart: Date.UTC(2026, 9, 31, 23),
    periodEnd: Date.UTC(2026, 10, 30, 23),
    quantity,
    steps,
    ...more,
  })
}

/** Seats before their period: a quantity times a price. */
export const seats = (id: string, count: string, price: string, currency: string): LineInput => {
  const { amount, steps } = rate(
    { key: "seats", name: "Seats", model: "unit", quantity: "seats", price: { [currency]: price } },
    count,
    { currency },
  )
  return line(id, amount, {
    kind: "advance",
    origin: originOf("pro"),
    charge: "seats",
    description: "Seats",
    periodStart: Date.UTC(2026, 10, 30, 23),
    periodEnd: Date.UTC(2026, 11, 31, 23),
    quantity: count,
    steps,
  })
}

export const REVERSE_CHARGE: TaxRate = { category: "AE", rate: "0", country: "BE", reason: "VATEX-EU-AE" }

interface Sample {
  readonly lines?: ReadonlyArray<LineInput>
  readonly currency?: string
  readonly rates?: Readonly<Record<string, TaxRate>>
  readonly rate?: TaxRate
  readonly behavior?: "exclusive" | "inclusive"
}

/** An issued invoice. */
export const invoice = ({
  behavior = "exclusive",
  currency = "EUR",
  lines = [usage("calls", "1500", currency), seats("seats", "7", "12.5", currency)],
  rate: all = standard("19"),
  rates = {},
}: Sample = {}): Invoice => ({
  ...issued({
    lines,
    quote: {
      behavior,
      rates: { ...Object.fromEntries(lines.map(({ id }) => [id, all])), ...rates },
    },
  }),
  currency,
})

/** An issued invoice of the lines a, b, c, … of 1.00, 2.00, 3.00, … of one category, each with its reason. */
export const exempt = (category: TaxRate["category"], ...reasons: ReadonlyArray<string | null>): Invoice => {
  const lines = linesOf(...reasons.map((_, index) => BigInt(index + 1) * 100n))
  const rates = lines.map(({ id }, index): [string, TaxRate] => [
    id,
    { category, rate: "0", country: "DE", reason: reasons[index]! },
  ])
  return invoice({ lines, rates: Object.fromEntries(rates) })
}

/** What a document of an invoice is made from. */
export const input = (
  of: Invoice,
  more: Partial<Omit<InvoiceDocumentInput, "invoice">> = {},
): InvoiceDocumentInput => ({
  invoice: of,
  customer,
  settings,
  payments: [],
  creditNotes: [],
  timezones: { sub_1: "Europe/Berlin" },
  ...more,
})

/** A credit note of half of a line: the first one, if it is not said. */
export const creditNote = (of: Invoice, line = of.lines[0]!): CreditNoteDocumentInput => ({
  creditNote: {
    ...creditNoteAmounts(of, [], { lines: [{ lineId: line.id, amount: line.net / 2n }] }),
    id: "crn_1",
    number: "CN-2026-0001",
    invoiceId: of.id,
    customerId: of.customerId,
    currency: of.currency,
    reason: "unsatisfactory",
    issuedAt: Date.UTC(2026, 11, 1),
  },
  invoice: of,
  customer,
  settings,
})

/** The invoice with a payment. */
export const paid = (of: Invoice, amount: bigint): Invoice => after(of, { action: "pay", amount })
