/**
 * The entries of an invoice and of all that stands beside it.
 */
import { sumOf } from "../invoices/Amounts.ts"
import type { CreditNote } from "../invoices/CreditNote.ts"
import type { Invoice } from "../invoices/Invoice.ts"
import type { Line } from "../invoices/Line.ts"
import * as Exact from "../money/Exact.ts"
import type { Payment } from "../payments/Payment.ts"
import { DAY_MILLIS } from "../subscriptions/LocalTime.ts"
import { Book, dayOf, type JournalEntry } from "./Journal.ts"
import { netsOfNote } from "./NoteNets.ts"

/** Money of a payment that went back to the customer. */
export interface MoneyBack {
  readonly kind: "refund" | "dispute"
  readonly id: string
  readonly amount: bigint
  /** The part that the invoice is not paid with any more. */
  readonly reversed: bigint
  /** Whether a credit note says why. */
  readonly isCredited: boolean
  /** When it went. `null`: it has not gone. */
  readonly at: number | null
  /** When it came back. `null`: it has not. */
  readonly returnedAt: number | null
}

/** An invoice, and all that stands beside it. Instants are epoch milliseconds. */
export interface InvoiceDocuments {
  readonly invoice: Invoice
  readonly voidedAt: number | null
  readonly writtenOffAt: number | null
  readonly notes: ReadonlyArray<
    Pick<
      CreditNote,
      "id" | "issuedAt" | "net" | "tax" | "waived" | "refund" | "toBalance" | "lines" | "taxes"
    >
  >
  readonly payments: ReadonlyArray<
    Pick<Payment, "id" | "status" | "paidAt" | "amount" | "applied" | "overpaid">
  >
  readonly moneyBack: ReadonlyArray<MoneyBack>
}

const MILLIS = BigInt(DAY_MILLIS)

/** The part of an amount of a line that is served by the end of a day, rounded once. A line without a period is served at once. */
const servedBy = ({ periodEnd, periodStart }: Line, amount: bigint, day: number): bigint => {
  if (periodStart === null || periodEnd === null || periodEnd <= periodStart) return amount
  const end = (BigInt(day) + 1n) * MILLIS
  const [from, to] = [BigInt(periodStart), BigInt(periodEnd)]
  if (end >= to) return amount
  return end <= from ? 0n : Exact.mulDivRound(Exact.ofInteger(amount), end - from, to - from, 0)
}

/** Where what is due is booked at an instant. */
const dueAccount = ({ writtenOffAt }: InvoiceDocuments, at: number): "receivable" | "bad_debt" =>
  writtenOffAt !== null && at > writtenOffAt ? "bad_debt" : "receivable"

const receivableOf = ({ applied, credited, total }: Invoice): bigint => total + credited - sumOf(applied)

const netOf = ({ lines }: Invoice): bigint => lines.reduce((sum, { net }) => sum + net, 0n)

const liabilityOf = (invoice: Invoice): bigint => sumOf(invoice.applied) - invoice.credited - netOf(invoice)

const bookIssue = (book: Book, { invoice }: InvoiceDocuments, at: number): void =>
  book.add("invoice", invoice.id, at, {
    receivable: receivableOf(invoice),
    contract_liability: liabilityOf(invoice),
    tax_payable: -sumOf(invoice.taxes),
  })

const bookNotes = (book: Book, documents: InvoiceDocuments): void => {
  for (const { id, issuedAt, net, refund, tax, toBalance, waived } of documents.notes) {
    book.add("credit_note", id, issuedAt, {
      contract_liability: net - toBalance,
      tax_payable: tax,
      refunds_payable: -refund,
      [dueAccount(documents, issuedAt)]: -waived,
    })
  }
}

const bookPayments = (book: Book, documents: InvoiceDocuments): void => {
  for (const { amount, applied, id, overpaid, paidAt, status } of documents.payments) {
    if (status !== "succeeded" || paidAt === null) continue
    const due = dueAccount(documents, paidAt)
    book.add("payment", id, paidAt, { cash: amount, contract_liability: -overpaid, [due]: -applied })
  }
}

const bookMoneyBack = (book: Book, documents: InvoiceDocuments): void => {
  for (const { amount, at, id, isCredited, kind, returnedAt, reversed } of documents.moneyBack) {
    if (at === null) continue
    const owed = isCredited ? "refunds_payable" : "contract_liability"
    book.add(kind, id, at, {
      cash: -amount,
      [owed]: amount - reversed,
      [dueAccount(documents, at)]: reversed,
    })
    if (returnedAt !== null) book.add(kind, id, returnedAt, { cash: amount, [owed]: -amount })
  }
}

/** What was due when an invoice was written off. */
const dueBy = ({ invoice, moneyBack, notes, payments }: InvoiceDocuments, at: number): bigint => {
  const paid = payments.map(({ applied, paidAt }) => (paidAt !== null && paidAt <= at ? applied : 0n))
  const waived = notes.map((note) => (note.issuedAt <= at ? note.waived : 0n))
  const reversed = moneyBack.map((one) => (one.at !== null && one.at <= at ? -one.reversed : 0n))
  return [...paid, ...waived, ...reversed].reduce((due, amount) => due - amount, receivableOf(invoice))
}

const bookWriteOff = (book: Book, documents: InvoiceDocuments): void => {
  const { invoice, writtenOffAt } = documents
  if (writtenOffAt === null) return
  const due = dueBy(documents, writtenOffAt)
  book.add("write_off", invoice.id, writtenOffAt, { bad_debt: due, receivable: -due })
}

/** The days of the lines of one invoice. Lines of one service period share their list, because an invoice may have many. */
export class LineDays {
  readonly #notes: ReadonlyArray<number>
  readonly #from: number
  readonly #to: number
  readonly #bySpan = new Map<string, ReadonlyArray<number>>()

  /** Lists days from one day to another: those of service, the first one, and those on which credit notes were issued. */
  constructor(notes: ReadonlyArray<number>, from: number, to: number) {
    this.#notes = notes
    this.#from = from
    this.#to = to
  }

  /** The days on which the revenue of a line may change, in order. */
  of({ periodEnd, periodStart }: Pick<Line, "periodStart" | "periodEnd">): ReadonlyArray<number> {
    const span = `${periodStart} ${periodEnd}`
    const known = this.#bySpan.get(span)
    if (known !== undefined) return known
    const days = this.#daysFrom(periodStart, periodEnd)
    this.#bySpan.set(span, days)
    return days
  }

  #daysFrom(start: number | null, end: number | null): ReadonlyArray<number> {
    const days = new Set([this.#from, ...this.#notes])
    if (start !== null && end !== null) {
      const last = Math.min(dayOf(end - 1), this.#to)
      for (let day = Math.max(this.#from, dayOf(start)); day <= last; day++) days.add(day)
    }
    return [...days].filter((day) => day >= this.#from && day <= this.#to).sort((a, b) => a - b)
  }
}

/** What credit notes took off a line, each on its day. */
type Credited = ReadonlyArray<{ readonly day: number; readonly net: bigint }>

/** Adds what a line earns on each of its days, and gives the sum. */
const addRevenue = (
  byDay: Map<number, bigint>,
  line: Line,
  days: ReadonlyArray<number>,
  credited: Credited,
): bigint => {
  let before = 0n
  for (const day of days) {
    const taken = credited.reduce((sum, one) => (one.day <= day ? sum + one.net : sum), 0n)
    const served = servedBy(line, line.net - taken, day)
    byDay.set(day, (byDay.get(day) ?? 0n) + served - before)
    before = served
  }
  return before
}

/** Books the revenue of each day, and gives the sum. */
const bookRevenue = (book: Book, { invoice, notes }: InvoiceDocuments, from: number, to: number): bigint => {
  const credited = notes.map((note) => ({ day: dayOf(note.issuedAt), nets: netsOfNote(note) }))
  const days = new LineDays(
    credited.map(({ day }) => day),
    from,
    to,
  )
  const byDay = new Map<number, bigint>()
  let all = 0n
  for (const line of invoice.lines) {
    if (line.kind === "top_up") continue
    const own = credited.map(({ day, nets }) => ({ day, net: nets.get(line.id) ?? 0n }))
    all += addRevenue(byDay, line, days.of(line), own)
  }
  for (const [day, revenue] of byDay) {
    book.addOn("recognition", invoice.id, day, { contract_liability: revenue, revenue: -revenue })
  }
  return all
}

/**
 * Takes back what was booked of an invoice that was voided. None of it was paid or credited then. Nothing is written off after
 * it is void, so the order of the two instants says nothing: they may be the same, and clocks of servers differ.
 */
const bookVoid = (book: Book, documents: InvoiceDocuments, at: number, recognized: bigint): void => {
  const { invoice, writtenOffAt } = documents
  const due = writtenOffAt === null ? "receivable" : "bad_debt"
  book.add("void", invoice.id, at, {
    [due]: -receivableOf(invoice),
    contract_liability: -liabilityOf(invoice) - recognized,
    tax_payable: sumOf(invoice.taxes),
    revenue: recognized,
  })
}

/**
 * The entries of an invoice to the end of the UTC day of `until`, an instant, in the order of their days. A draft has none.
 *
 * Revenue is recognized by day: what was served by the end of the day, rounded, less what was recognized before. Nothing is
 * recognized before the invoice is issued, so usage that is billed afterwards is recognized on the day of its invoice. A
 * credit note lowers what there is to recognize. What top-ups bring stays in `contract_liability` until the credits are used
 * or end: see `journalOfGrant`. A void invoice is taken back as far as it was booked.
 */
export const journalOfInvoice = (documents: InvoiceDocuments, until: number): ReadonlyArray<JournalEntry> => {
  const { invoice, voidedAt } = documents
  const { currency, customerId, id: invoiceId, issuedAt } = invoice
  if (issuedAt === null) return []
  const last = dayOf(until)
  const book = new Book({ invoiceId, customerId, currency }, last)
  bookIssue(book, documents, issuedAt)
  bookNotes(book, documents)
  bookPayments(book, documents)
  bookMoneyBack(book, documents)
  bookWriteOff(book, documents)
  const end = voidedAt === null ? last : Math.min(last, dayOf(voidedAt) - 1)
  const recognized = bookRevenue(book, documents, dayOf(issuedAt), end)
  if (voidedAt !== null) bookVoid(book, documents, voidedAt, recognized)
  return book.entries
}
