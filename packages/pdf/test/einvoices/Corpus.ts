/**
 * Invoices and credit notes that are validated as e-invoices.
 */
import {
  applyToInvoice,
  assemble,
  type CouponInput,
  creditNoteAmounts,
  type CreditRequest,
  draftOf,
  type Invoice,
  type InvoiceInput,
  type LineInput,
  rate,
  type Recipient,
  stepsOfAmount,
  type TaxBehavior,
  type TaxRate,
} from "@billwright/engine"
import {
  type BillingDocument,
  creditNoteDocument,
  type DocumentSettings,
  invoiceDocument,
} from "@billwright/engine/documents"
import {
  ciiXml,
  type EInvoiceCreditNoteInput,
  type EInvoiceInput,
  type En16931Invoice,
  toEn16931,
  ublXml,
} from "@billwright/engine/einvoices"

const settings: DocumentSettings = {
  locale: "en",
  timezone: "Europe/Berlin",
  seller: {
    name: "Nordlicht Software GmbH",
    address: { line1: "Hafenstraße 12", city: "Hamburg", postcode: "20359" },
    country: "DE",
    taxId: "DE123456789",
    registration: "HRB 98765, Amtsgericht Hamburg",
    paymentInstructions: "IBAN DE02 1203 0000 0000 2020 51\nBIC BYLADEM1001",
    footer: "Managing director: Jane Doe",
  },
}

const customer: Recipient = {
  name: "Ada Lovelace Ltd",
  address: { line1: "Rue de la Loi 200", city: "Bruxelles", postcode: "1000" },
  country: "BE",
  taxId: "BE0123456789",
  locale: "en",
  timezone: null,
}

const standard = (percent: string): TaxRate => ({
  category: "S",
  rate: percent,
  country: "DE",
  reason: null,
})
const untaxed = (category: TaxRate["category"], reason: string | null, country: string | null = "BE") => ({
  category,
  rate: "0",
  country,
  reason,
})

const PERIOD = { periodStart: Date.UTC(2026, 9, 31, 23), periodEnd: Date.UTC(2026, 10, 30, 23) }

const item = (id: string, amount: bigint, more: Partial<LineInput> = {}): LineInput => ({
  id,
  kind: "item",
  origin: null,
  charge: null,
  description: `Line ${id}`,
  periodStart: null,
  periodEnd: null,
  quantity: null,
  amount,
  steps: stepsOfAmount(amount, 2),
  receipt: null,
  taxCode: null,
  fixedTax: null,
  creditOf: null,
  ...more,
})

/** Usage in tiers. */
const usage = (quantity: string, currency = "EUR", more: Partial<LineInput> = {}): LineInput => {
  const tiers = [
    { up_to: "1000", price: { [currency]: "0.0133" } },
    { price: { [currency]: "0.002" } },
  ] as const
  const charge = { key: "calls", name: "API calls", model: "graduated", meter: "calls", tiers } as const
  const { amount, steps } = rate(charge, quantity, { currency })
  const fields = { kind: "usage", charge: "calls", description: "API calls", quantity, steps } as const
  return item("calls", amount, { ...fields, ...PERIOD, ...more })
}

/** A quantity times a price. */
const units = (quantity: string, price: string, currency = "EUR", more: Partial<LineInput> = {}) => {
  const charge = {
    key: "gb",
    name: "Traffic",
    model: "unit",
    meter: "gb",
    price: { [currency]: price },
  } as const
  const { amount, steps } = rate(charge, quantity, { currency })
  const fields = { kind: "usage", charge: "gb", description: "Traffic, GB", quantity, steps } as const
  return item("gb", amount, { ...fields, ...PERIOD, ...more })
}

interface Sample {
  readonly lines: ReadonlyArray<LineInput>
  readonly rate?: TaxRate
  readonly rates?: Readonly<Record<string, TaxRate>>
  readonly behavior?: TaxBehavior
  readonly currency?: string
  readonly coupons?: ReadonlyArray<CouponInput>
  readonly promotional?: bigint
  readonly paid?: bigint
  readonly customer?: Partial<Recipient>
  readonly seller?: Partial<NonNullable<DocumentSettings["seller"]>>
  readonly credit?: CreditRequest
}

const after = (invoice: Invoice, input: InvoiceInput): Invoice => {
  const change = applyToInvoice(invoice, input)
  if (change.type === "rejected") throw new Error(`The invoice ${change.problem}.`)
  return change.invoice
}

const invoiceOf = (sample: Sample): Invoice => {
  const { behavior = "exclusive", coupons = [], currency = "EUR", lines, paid, promotional, rates } = sample
  const all = sample.rate ?? standard("19")
  const amounts = assemble({
    lines,
    quote: { behavior, rates: { ...Object.fromEntries(lines.map(({ id }) => [id, all])), ...rates } },
    coupons,
    promotional: promotional === undefined ? [] : [{ id: "promotional", available: promotional }],
    paid: paid === undefined ? [] : [{ id: "paid", available: paid }],
  })
  if (amounts === undefined) throw new Error("no lines")
  const header = { id: "inv_1", customerId: "cus_1", subscriptionId: null, currency }
  return after(draftOf({ ...header, periodStart: null, periodEnd: null }, amounts), {
    action: "finalize",
    number: "2026-0001",
    issuedAt: Date.UTC(2026, 10, 30, 23, 30),
    dueAt: Date.UTC(2026, 11, 14, 22, 59, 59),
  })
}

type Source = EInvoiceInput | EInvoiceCreditNoteInput

const sourceOf = (sample: Sample): { readonly source: Source; readonly page: BillingDocument } => {
  const invoice = invoiceOf(sample)
  const parties = {
    customer: { ...customer, ...sample.customer },
    settings: { ...settings, seller: { ...settings.seller!, ...sample.seller } },
  }
  if (sample.credit === undefined) {
    const page = { invoice, ...parties, payments: [], creditNotes: [], timezones: {} }
    return { source: { invoice, ...parties }, page: invoiceDocument(page) }
  }
  const isPaid = sample.credit.refund !== undefined
  const credited = isPaid ? after(invoice, { action: "pay", amount: invoice.amountDue }) : invoice
  const creditNote = {
    ...creditNoteAmounts(credited, [], sample.credit),
    id: "crn_1",
    number: "CN-2026-0001",
    invoiceId: invoice.id,
    customerId: invoice.customerId,
    currency: invoice.currency,
    reason: "unsatisfactory",
    issuedAt: Date.UTC(2026, 11, 3),
  } as const
  const source = { creditNote, invoice, ...parties }
  return { source, page: creditNoteDocument(source) }
}

const HALF: CouponInput = {
  id: "red_1",
  name: "Spring <half> & more",
  allowance: { type: "percent", percent: "33.3" },
}
const TWO = [usage("1500"), units("12.75", "0.0915"), item("setup", 100_00n)]

const SAMPLES: Readonly<Record<string, Sample>> = {
  plain: { lines: [item("setup", 100_00n)] },
  "usage-with-decimals": { lines: [units("1234.567", "0.000915"), usage("15000.25")] },
  "cents-of-three-lines": { lines: ["a", "b", "c"].map((id) => item(id, 33n)), rate: standard("20") },
  "several-rates": {
    lines: [...TWO, item("book", 19_99n), item("zero", 5_00n)],
    rates: { book: standard("7"), zero: untaxed("Z", null, "DE"), setup: standard("5.5") },
  },
  inclusive: { lines: [item("a", 19_95n), item("b", 7n), usage("1500")], behavior: "inclusive" },
  "inclusive-discount": { lines: TWO, behavior: "inclusive", coupons: [HALF] },
  "reverse-charge": { lines: TWO, rate: untaxed("AE", "VATEX-EU-AE") },
  exempt: { lines: TWO, rate: untaxed("E", "The customer is exempt from tax") },
  "goods-in-union": { lines: TWO, rate: untaxed("K", "VATEX-EU-IC") },
  export: {
    lines: TWO,
    rate: untaxed("G", "VATEX-EU-G", "US"),
    customer: { country: "US", taxId: "12-3456789" },
  },
  "outside-of-vat": { lines: TWO, rate: untaxed("O", "Not subject to tax", null) },
  "outside-of-vat-unregistered": {
    lines: TWO,
    rate: untaxed("O", "VATEX-EU-O", null),
    seller: { registration: "HRB 1" },
    customer: { country: "US", taxId: null },
  },
  "small-business": {
    lines: TWO,
    rate: untaxed("E", "Small business"),
    seller: { taxId: "21/815/08150" },
    customer: { taxId: null },
  },
  discount: {
    lines: TWO,
    coupons: [HALF, { id: "red_2", name: "Ten", allowance: { type: "fixed", amount: 10_00n } }],
    promotional: 5_01n,
  },
  "credits-applied": { lines: TWO, paid: 50_00n },
  "paid-by-credits": { lines: TWO, paid: 5_000_00n },
  "money-back": { lines: [...TWO, item("back", -33_33n, { kind: "credit", quantity: "3" })] },
  "total-below-zero": { lines: [item("setup", 10_00n), item("back", -33_33n)] },
  free: { lines: [item("setup", 0n), usage("0")] },
  "no-account": {
    lines: TWO,
    seller: { paymentInstructions: "By cheque to the address above.\nThank you!" },
  },
  "reduced-to-nothing": {
    lines: TWO,
    coupons: [{ id: "red_1", name: "All", allowance: { type: "percent", percent: "100" } }],
  },
  yen: { lines: [units("7.5", "120.4", "JPY"), item("setup", 9800n)], currency: "JPY", rate: standard("10") },
  dinars: {
    lines: [item("setup", 1_250n), item("more", 2_500n)],
    currency: "KWD",
    rate: untaxed("AE", null),
  },
  "long-names": {
    lines: [item("long", 1_00n, { description: `Ein sehr langer Name ${"für eine Leistung ".repeat(20)}` })],
    customer: { name: `Gesellschaft ${"und Söhne ".repeat(15)}` },
  },
  "right-to-left": {
    lines: [item("rtl", 1_00n, { description: "شركة البرمجيات · תוכנה 2026" })],
    customer: { name: "شركة نور للبرمجيات", address: { line1: "رחוב הרצל 12", city: "תל אביב" } },
  },
  "special-characters": {
    lines: [item("markup", 1_00n, { description: `<b>"A" & 'B'</b> ]]> \u0007 \ud83d\ude80 \ud800` })],
    customer: { name: "Smith & Sons <Ltd>" },
    seller: { name: "R&D «Nord» <GmbH>", footer: "Zeile 1\nZeile 2 & <mehr>" },
  },
  "credit-note": { lines: TWO, credit: { lines: "rest" } },
  "credit-note-of-a-part": { lines: TWO, coupons: [HALF], credit: { lines: 17_77n } },
  "credit-note-inclusive": { lines: TWO, behavior: "inclusive", credit: { lines: 17_77n, refund: 10_00n } },
  "credit-note-reverse-charge": {
    lines: TWO,
    rate: untaxed("AE", "VATEX-EU-AE"),
    credit: { lines: "rest", refund: 20_00n },
  },
}

/** A document of the corpus: as the norm has it, and as it is shown. */
export interface Specimen {
  readonly name: string
  readonly document: En16931Invoice
  readonly ubl: string
  readonly cii: string
  readonly page: BillingDocument
}

/** The corpus. */
export const corpus = (): ReadonlyArray<Specimen> =>
  Object.entries(SAMPLES).map(([name, sample]) => {
    const { page, source } = sourceOf(sample)
    const result = toEn16931(source)
    if (result.type === "problems") throw new Error(`${name}: ${JSON.stringify(result.problems)}`)
    const { document } = result
    return { name, document, ubl: ublXml(document), cii: ciiXml(document), page }
  })
