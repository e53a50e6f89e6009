/**
 * Invoices and credit notes as electronic invoices by EN 16931. Nothing is rated or rounded again: lines are the net
 * amounts of the document, and VAT is what it states for each rate, which was rounded once over the rounded lines.
 */
import type { CreditNoteDocumentInput } from "../documents/CreditNoteDocument.ts"
import type { InvoiceDocumentInput } from "../documents/InvoiceDocument.ts"
import { localeOf } from "../documents/Language.ts"
import { linesOfText } from "../documents/Parties.ts"
import { TEXTS } from "../documents/Translations.ts"
import { sumOf } from "../invoices/Amounts.ts"
import type { Line } from "../invoices/Line.ts"
import type { Tax, TaxCategory, TaxRate } from "../invoices/Tax.ts"
import * as Allocate from "../money/Allocate.ts"
import * as Exact from "../money/Exact.ts"
import * as LocalTime from "../subscriptions/LocalTime.ts"
import { digitsOf } from "../subscriptions/Raters.ts"
import type {
  En16931Invoice,
  En16931Line,
  En16931Period,
  En16931Problem,
  En16931Rate,
  En16931Tax,
} from "./En16931.ts"
import { partiesOf } from "./Parties.ts"

/** EN 16931 writes amounts with two decimals at most (BR-DEC). */
const MAX_DIGITS = 2

/** Reasons as codes of the list VATEX, where the category has one. */
const REASON_CODES: Partial<Readonly<Record<TaxCategory, string>>> = {
  AE: "VATEX-EU-AE",
  K: "VATEX-EU-IC",
  G: "VATEX-EU-G",
  O: "VATEX-EU-O",
}

/** The electronic invoice, or all that it lacks. */
export type En16931Result =
  | { readonly ok: true; readonly invoice: En16931Invoice }
  | { readonly ok: false; readonly problems: ReadonlyArray<En16931Problem> }

/** What the parts of a document share. */
interface Writer {
  readonly digits: number
  readonly money: (units: bigint) => string
  readonly timezone: string
  readonly language: keyof typeof TEXTS
}

const writerOf = (
  currency: string,
  { customer, settings }: Pick<InvoiceDocumentInput, "customer" | "settings">,
): Writer => {
  const digits = digitsOf(currency)
  return {
    digits,
    money: (units) => Exact.text(Exact.ofUnits(units, digits)),
    timezone: settings.timezone,
    language: localeOf(customer.locale, settings.locale).language,
  }
}

const dateOf = (instant: number, timezone: string): string =>
  LocalTime.format(LocalTime.ofInstant(instant, timezone)).slice(0, "2026-11-26".length)

/** A half open span as days. One that ends at midnight ends on the day before. */
const periodOf = (start: number | null, end: number | null, timezone: string): En16931Period | null => {
  if (start === null || end === null || end <= start) return null
  return { start: dateOf(start, timezone), end: dateOf(end - 1, timezone) }
}

const rateOf = ({ category, rate }: TaxRate): En16931Rate => ({
  category,
  rate: category === "O" ? null : rate,
})
const rateKey = ({ category, rate }: TaxRate): string => `${category} ${Exact.text(Exact.ofDecimal(rate))}`

/** An exact text that is a decimal, and not a fraction. */
const isDecimal = (text: string | null): text is string => text !== null && /^\d+(?:\.\d+)?$/.test(text)

/** The quantity and price of a line that has one price for all of it. */
const pricedOnce = (
  line: Line,
  digits: number,
): { readonly quantity: string; readonly price: string } | null => {
  const priced = line.steps.filter(({ type }) => !["aggregate", "round"].includes(type))
  const [only] = priced
  if (priced.length !== 1 || only?.type !== "unit" || only.quantity !== line.quantity) return null
  const { price, quantity } = only
  if (!isDecimal(quantity) || !isDecimal(price) || Exact.isZero(Exact.ofText(quantity))) return null
  const product = Exact.multiply(Exact.ofText(quantity), Exact.ofText(price))
  return Exact.roundTo(product, digits) === line.amount ? { quantity, price } : null
}

/** One of something, or minus one for money back: prices are never below 0 (BR-27). */
const oneOf = (amount: bigint, { money }: Writer) => ({
  quantity: amount < 0n ? "-1" : "1",
  price: money(amount < 0n ? -amount : amount),
})

const descriptionOf = (line: Line, isPriced: boolean): string | null => {
  const quantity = isPriced || line.quantity === null ? null : `Quantity: ${line.quantity}`
  const all = [line.origin?.group ?? null, quantity].filter((text) => text !== null && text !== "")
  return all.length === 0 ? null : all.join(", ")
}

const nameOf = (line: Line, { language }: Writer): string =>
  line.kind === "true_up" ? TEXTS[language].minimum : line.description.trim() || TEXTS[language].description

const lineOf = (
  line: Line,
  place: number,
  isInclusive: boolean,
  zones: Readonly<Record<string, string>>,
  writer: Writer,
): En16931Line => {
  const { discount, net, origin, periodEnd, periodStart, tax } = line
  // Prices with tax in them are no prices of EN 16931. So such a line is one of its net amount.
  const priced = isInclusive ? null : pricedOnce(line, writer.digits)
  const zone = zones[origin?.subscriptionId ?? ""] ?? writer.timezone
  return {
    id: String(place + 1),
    name: nameOf(line, writer),
    description: descriptionOf(line, priced !== null),
    ...(priced ?? oneOf(isInclusive ? net : line.amount, writer)),
    allowance: isInclusive || discount === 0n ? null : writer.money(discount),
    net: writer.money(net),
    period: periodOf(periodStart, periodEnd, zone),
    ...rateOf(tax),
  }
}

/** Why there is no VAT: a code where there is one, and otherwise a text. */
const reasonOf = (taxes: ReadonlyArray<Tax>, { language }: Writer) => {
  const { category } = taxes[0]!
  if (category === "S" || category === "Z") return { reasonCode: null, reason: null }
  const given = [...new Set(taxes.flatMap(({ reason }) => (reason === null ? [] : [reason])))]
  const code = given.find((reason) => reason.startsWith("VATEX-")) ?? REASON_CODES[category] ?? null
  const texts = given.filter((reason) => !reason.startsWith("VATEX-"))
  const text = texts.join("; ") || TEXTS[language].exemptions[category]
  return { reasonCode: code, reason: text === "" ? null : text }
}

/** The VAT of each category and rate. Countries and reasons of one rate are one group, as BR-S-08 wants. */
const taxesOf = (taxes: ReadonlyArray<Tax>, writer: Writer): ReadonlyArray<En16931Tax> =>
  [...Map.groupBy(taxes, rateKey).values()].map((group) => ({
    ...rateOf(group[0]!),
    taxable: writer.money(group.reduce((sum, { taxable }) => sum + taxable, 0n)),
    amount: writer.money(sumOf(group)),
    ...reasonOf(group, writer),
  }))

const notesOf = ({ settings: { seller } }: Pick<InvoiceDocumentInput, "settings">): ReadonlyArray<string> =>
  [seller?.paymentInstructions, seller?.footer]
    .map((text) => linesOfText(text).join("\n").trim())
    .filter((text) => text !== "")

/** What hinders any document: its currency, a lack of lines, and categories that exclude each other. */
const problemsOf = (
  { digits }: Writer,
  lines: ReadonlyArray<{ readonly tax: TaxRate }>,
  categories: ReadonlySet<TaxCategory>,
): ReadonlyArray<En16931Problem> => {
  const found: Array<En16931Problem> = []
  if (digits > MAX_DIGITS) {
    found.push({ term: "BT-5", field: "currency", problem: `must have at most ${MAX_DIGITS} decimals` })
  }
  if (lines.length === 0)
    found.push({ term: "BG-25", field: "lines", problem: "must have at least one line" })
  if (categories.has("O") && categories.size > 1) {
    const problem = "must not mix lines that are not subject to VAT (O) with others: BR-O-11"
    found.push({ term: "BG-23", field: "lines", problem })
  }
  return found
}

const categoriesOf = (lines: ReadonlyArray<{ readonly tax: TaxRate }>): ReadonlySet<TaxCategory> =>
  new Set(lines.map(({ tax }) => tax.category))

const resultOf = (problems: ReadonlyArray<En16931Problem>, make: () => En16931Invoice): En16931Result =>
  problems.length > 0 ? { ok: false, problems } : { ok: true, invoice: make() }

/**
 * An issued invoice by EN 16931-1:2017, as it was when it was issued: later payments and credit notes change nothing.
 * Refuses drafts, void invoices, currencies with more than two decimals, and an invoice that lacks what the norm wants.
 */
export const toEn16931 = (input: Omit<InvoiceDocumentInput, "payments" | "creditNotes">): En16931Result => {
  const { customer, invoice, settings, timezones } = input
  const writer = writerOf(invoice.currency, input)
  const categories = categoriesOf(invoice.lines)
  const parties = partiesOf(settings.seller, customer, categories)
  const { issuedAt, number, status } = invoice
  if (number === null || issuedAt === null || status === "void") {
    const problem = status === "void" ? "must not be void" : "must be issued first: a draft has no number"
    return { ok: false, problems: [{ term: "BT-1", field: "status", problem }] }
  }
  return resultOf([...problemsOf(writer, invoice.lines, categories), ...parties.problems], () => {
    const prepaid = sumOf(invoice.applied) - invoice.credited
    const due = invoice.total - prepaid
    const net = invoice.lines.reduce((sum, line) => sum + line.net, 0n)
    return {
      kind: "invoice",
      number,
      issueDate: dateOf(issuedAt, writer.timezone),
      dueDate:
        due > 0n && invoice.dueAt !== null
          ? dateOf(invoice.dueAt, customer.timezone ?? writer.timezone)
          : null,
      currency: invoice.currency,
      terms: null,
      notes: notesOf(input),
      preceding: null,
      period: periodOf(invoice.periodStart, invoice.periodEnd, writer.timezone),
      seller: parties.seller,
      buyer: parties.buyer,
      lines: invoice.lines.map((line, place) =>
        lineOf(line, place, invoice.taxBehavior === "inclusive", timezones, writer),
      ),
      taxes: taxesOf(invoice.taxes, writer),
      totals: {
        net: writer.money(net),
        tax: writer.money(sumOf(invoice.taxes)),
        gross: writer.money(invoice.total),
        prepaid: writer.money(prepaid),
        due: writer.money(due),
      },
    }
  })
}

/** The net amounts of the lines of a credit note: what each rate gives back, in proportion to its lines. */
const netOfCredits = ({
  creditNote: { lines, taxBehavior, taxes },
}: CreditNoteDocumentInput): ReadonlyMap<string, bigint> => {
  if (taxBehavior === "exclusive") return new Map(lines.map(({ amount, lineId }) => [lineId, amount]))
  const net = new Map<string, bigint>()
  for (const [key, group] of Map.groupBy(lines, ({ tax }) => rateKey(tax))) {
    const taxable = taxes.reduce((sum, tax) => (rateKey(tax) === key ? sum + tax.taxable : sum), 0n)
    const weights = group.map(({ amount, lineId }) => ({ key: lineId, weight: amount }))
    for (const [index, part] of Allocate.allocate(taxable, weights).entries())
      net.set(group[index]!.lineId, part)
  }
  return net
}

/** A credit note by EN 16931-1:2017 (type 381). Refuses what {@link toEn16931} refuses. */
export const creditNoteToEn16931 = (input: CreditNoteDocumentInput): En16931Result => {
  const { creditNote, customer, invoice, settings } = input
  const writer = writerOf(creditNote.currency, input)
  const categories = categoriesOf(creditNote.lines)
  const parties = partiesOf(settings.seller, customer, categories)
  const { issuedAt, number } = invoice
  return resultOf([...problemsOf(writer, creditNote.lines, categories), ...parties.problems], () => {
    const named = new Map(invoice.lines.map((line) => [line.id, line]))
    const net = netOfCredits(input)
    return {
      kind: "credit_note",
      number: creditNote.number,
      issueDate: dateOf(creditNote.issuedAt, writer.timezone),
      dueDate: null,
      currency: creditNote.currency,
      terms: TEXTS[writer.language].creditNote,
      notes: notesOf(input),
      preceding:
        number === null || issuedAt === null
          ? null
          : { number, issueDate: dateOf(issuedAt, writer.timezone) },
      period: null,
      seller: parties.seller,
      buyer: parties.buyer,
      lines: creditNote.lines.map(({ lineId, tax }, place) => {
        const line = named.get(lineId)
        const amount = net.get(lineId) ?? 0n
        return {
          id: String(place + 1),
          name: line === undefined ? TEXTS[writer.language].minimum : nameOf(line, writer),
          description: line?.origin?.group ?? null,
          ...oneOf(amount, writer),
          allowance: null,
          net: writer.money(amount),
          period: null,
          ...rateOf(tax),
        }
      }),
      taxes: taxesOf(creditNote.taxes, writer),
      totals: {
        net: writer.money(creditNote.net),
        tax: writer.money(creditNote.tax),
        gross: writer.money(creditNote.total),
        prepaid: writer.money(0n),
        due: writer.money(creditNote.total),
      },
    }
  })
}
