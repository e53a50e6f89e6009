/**
 * The journal of invoices: double entry, derived from documents alone. Amounts are integers of the currency's minor unit,
 * and days are those of UTC.
 */
import type { CreditNote } from "../invoices/CreditNote.ts"
import type { Invoice } from "../invoices/Invoice.ts"
import type { Line } from "../invoices/Line.ts"
import { taxKey } from "../invoices/Tax.ts"
import * as Exact from "../money/Exact.ts"
import type { Payment } from "../payments/Payment.ts"
import { DAY_MILLIS, format } from "../subscriptions/LocalTime.ts"

/**
 * - `receivable`: what is due of issued invoices.
 * - `contract_liability`: what was billed and not served yet, without tax.
 * - `customer_credit`: what was credited or paid beyond an invoice, less what of it paid invoices or went back.
 * - `refunds_payable`: what credit notes refund, until the money has gone.
 * - `bad_debt`: what was due of invoices that are written off.
 */
export type BookAccount =
  | "receivable"
  | "contract_liability"
  | "customer_credit"
  | "refunds_payable"
  | "tax_payable"
  | "cash"
  | "revenue"
  | "bad_debt"

/** What an entry books. */
export type JournalKind =
  | "invoice"
  | "recognition"
  | "credit_note"
  | "payment"
  | "refund"
  | "dispute"
  | "void"
  | "write_off"

/** A change of an account: a debit is above 0, and a credit is below 0. Never 0. */
export interface Posting {
  readonly account: BookAccount
  readonly amount: bigint
}

/** An entry. Its postings sum to 0. */
export interface JournalEntry {
  /** The UTC day, such as `2026-01-31`. */
  readonly day: string
  readonly kind: JournalKind
  /** The id of the invoice, credit note, payment, refund or dispute. */
  readonly documentId: string
  readonly invoiceId: string
  readonly customerId: string
  readonly currency: string
  /** At most one for an account. */
  readonly postings: ReadonlyArray<Posting>
}

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
}

/** An invoice, and all that stands beside it. */
export interface InvoiceDocuments {
  readonly invoice: Invoice
  /** When it was voided or written off. It counts only for an invoice that is `void` or `uncollectible`. */
  readonly endedAt: number
  readonly notes: ReadonlyArray<CreditNote>
  readonly payments: ReadonlyArray<Payment>
  readonly moneyBack: ReadonlyArray<MoneyBack>
}

const MILLIS = BigInt(DAY_MILLIS)

const dayOf = (at: number): number => Math.floor(at / DAY_MILLIS)
const dayText = (day: number): string => format(day * DAY_MILLIS).slice(0, "2026-01-31".length)

/** The part of a line's amount that is served by the end of a day, rounded once. A line without a period is served at once. */
const servedBy = ({ periodEnd, periodStart }: Line, amount: bigint, day: number): bigint => {
  if (periodStart === null || periodEnd === null || periodEnd <= periodStart) return amount
  const end = (BigInt(day) + 1n) * MILLIS
  const [from, to] = [BigInt(periodStart), BigInt(periodEnd)]
  if (end >= to) return amount
  return end <= from ? 0n : Exact.mulDivRound(Exact.ofInteger(amount), end - from, to - from, 0)
}

/**
 * What a credit note takes off the net of each line. The net of a tax rate is shared out along its lines, each the
 * difference of rounded sums.
 */
const netOfNote = (note: Pick<CreditNote, "lines" | "taxes">): ReadonlyMap<string, bigint> => {
  const nets = new Map<string, bigint>()
  const groups = Map.groupBy(note.lines, ({ tax }) => taxKey(tax))
  for (const tax of note.taxes) {
    const lines = groups.get(taxKey(tax)) ?? []
    const whole = lines.reduce((sum, { amount }) => sum + amount, 0n)
    let [seen, shared] = [0n, 0n]
    for (const [index, { amount, lineId }] of lines.entries()) {
      seen += amount
      const isLast = index === lines.length - 1
      const until =
        isLast || whole === 0n
          ? tax.taxable
          : Exact.roundTo(
              Exact.ofFraction((whole < 0n ? -1n : 1n) * tax.taxable * seen, whole < 0n ? -whole : whole),
              0,
            )
      nets.set(lineId, until - shared)
      shared = until
    }
  }
  return nets
}

type Amounts = Partial<Record<BookAccount, bigint>>

class Book {
  readonly entries: Array<JournalEntry> = []
  readonly #balances = new Map<BookAccount, bigint>()
  readonly #invoice: Invoice

  constructor(invoice: Invoice) {
    this.#invoice = invoice
  }

  add(kind: JournalKind, documentId: string, day: number, amounts: Amounts): void {
    const postings = Object.entries(amounts)
      .map(([account, amount]) => ({ account: account as BookAccount, amount }))
      .filter(({ amount }) => amount !== 0n)
    if (postings.length === 0) return
    const { currency, customerId, id: invoiceId } = this.#invoice
    for (const { account, amount } of postings) {
      this.#balances.set(account, (this.#balances.get(account) ?? 0n) + amount)
    }
    this.entries.push({ day: dayText(day), kind, documentId, invoiceId, customerId, currency, postings })
  }

  balance(account: BookAccount): bigint {
    return this.#balances.get(account) ?? 0n
  }
}

const bookIssue = (book: Book, invoice: Invoice, day: number): void => {
  const applied = invoice.applied.reduce((sum, { amount }) => sum + amount, 0n)
  book.add("invoice", invoice.id, day, {
    receivable: invoice.total + invoice.credited - applied,
    customer_credit: applied - invoice.credited,
    contract_liability: invoice.tax - invoice.total,
    tax_payable: -invoice.tax,
  })
}

const bookNote = (book: Book, note: CreditNote): void =>
  book.add("credit_note", note.id, dayOf(note.issuedAt), {
    contract_liability: note.net,
    tax_payable: note.tax,
    receivable: -note.waived,
    refunds_payable: -note.refund,
    customer_credit: -note.toBalance,
  })

const bookMoney = (book: Book, { moneyBack, payments }: InvoiceDocuments, day: number): void => {
  for (const { amount, applied, id, overpaid, paidAt, status } of payments) {
    if (status !== "succeeded" || paidAt === null || dayOf(paidAt) !== day) continue
    book.add("payment", id, day, { cash: amount, receivable: -applied, customer_credit: -overpaid })
  }
  for (const { amount, at, id, isCredited, kind, reversed } of moneyBack) {
    if (at === null || dayOf(at) !== day) continue
    const rest = amount - reversed
    book.add(kind, id, day, {
      receivable: reversed,
      [isCredited ? "refunds_payable" : "customer_credit"]: rest,
      cash: -amount,
    })
  }
}

/** What of an invoice is served by the end of a day, after the notes so far. */
const servedOf = (invoice: Invoice, notes: ReadonlyArray<CreditNote>, day: number): bigint => {
  const nets = notes.map(netOfNote)
  return invoice.lines
    .filter(({ kind }) => kind !== "top_up")
    .reduce((sum, line) => {
      const net = nets.reduce((left, credited) => left - (credited.get(line.id) ?? 0n), line.net)
      return sum + servedBy(line, net, day)
    }, 0n)
}

/** The days on which something of an invoice may change, from its issue to a last one. */
const daysOf = (documents: InvoiceDocuments, issued: number, last: number): ReadonlyArray<number> => {
  const { invoice, moneyBack, notes, payments } = documents
  const instants = [
    documents.endedAt,
    ...notes.map(({ issuedAt }) => issuedAt),
    ...payments.flatMap(({ paidAt }) => paidAt ?? []),
    ...moneyBack.flatMap(({ at }) => at ?? []),
  ]
  const days = new Set([issued, ...instants.map(dayOf)])
  for (const { periodEnd, periodStart } of invoice.lines) {
    if (periodStart === null || periodEnd === null) continue
    const end = Math.min(dayOf(periodEnd - 1), last)
    for (let day = Math.max(issued, dayOf(periodStart)); day <= end; day++) days.add(day)
  }
  return [...days].filter((day) => day >= issued && day <= last).sort((a, b) => a - b)
}

/** Takes back what is left of an invoice that was voided, or writes off what was due of it. */
const bookEnd = (book: Book, { endedAt, invoice }: InvoiceDocuments, day: number): void => {
  if (dayOf(endedAt) !== day) return
  if (invoice.status === "uncollectible") {
    book.add("write_off", invoice.id, day, { bad_debt: invoice.amountDue, receivable: -invoice.amountDue })
  }
  if (invoice.status !== "void") return
  const accounts = ["receivable", "customer_credit", "contract_liability", "tax_payable", "revenue"] as const
  const back = accounts.map((account) => [account, -book.balance(account)] as const)
  book.add("void", invoice.id, day, Object.fromEntries(back))
}

/**
 * The entries of an invoice to the end of the UTC day of `until`, an instant, in the order of their days. A draft has none.
 *
 * Revenue is recognized by day: what was served by the end of the day, rounded, less what was recognized before. Nothing is
 * recognized before the invoice is issued, so usage that is billed afterwards is recognized on the day of its invoice. A
 * credit note lowers what there is to recognize. What top-ups bring stays in `contract_liability`. A void invoice is taken
 * back as far as it was booked.
 */
export const journalOf = (documents: InvoiceDocuments, until: number): ReadonlyArray<JournalEntry> => {
  const { invoice } = documents
  if (invoice.status === "draft" || invoice.issuedAt === null) return []
  const book = new Book(invoice)
  const issued = dayOf(invoice.issuedAt)
  const ended = invoice.status === "void" ? dayOf(documents.endedAt) : undefined
  for (const day of daysOf(documents, issued, dayOf(until))) {
    if (day === issued) bookIssue(book, invoice, day)
    const notes = documents.notes.filter(({ issuedAt }) => dayOf(issuedAt) <= day)
    for (const note of notes) if (dayOf(note.issuedAt) === day) bookNote(book, note)
    bookMoney(book, documents, day)
    if (ended === undefined || day < ended) {
      const recognized = -book.balance("revenue")
      const served = servedOf(invoice, notes, day) - recognized
      book.add("recognition", invoice.id, day, { contract_liability: served, revenue: -served })
    }
    bookEnd(book, documents, day)
  }
  return book.entries
}

/** What each account comes to, of entries of one currency. The sum of all is 0. */
export const trialBalance = (entries: ReadonlyArray<JournalEntry>): ReadonlyMap<BookAccount, bigint> => {
  const balances = new Map<BookAccount, bigint>()
  for (const { account, amount } of entries.flatMap(({ postings }) => postings)) {
    balances.set(account, (balances.get(account) ?? 0n) + amount)
  }
  return balances
}
