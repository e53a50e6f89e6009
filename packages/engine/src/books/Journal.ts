/**
 * The journal: double entry, derived from documents alone. Amounts are integers of the currency's minor unit, and days are
 * those of UTC.
 */
import { DAY_MILLIS, format } from "../subscriptions/LocalTime.ts"

/**
 * - `receivable`: what is due of issued invoices that are not written off.
 * - `contract_liability`: what customers have with you: what was billed and not served yet, without tax; credits that they
 *   bought and have not used; what credit notes gave to their balance; what they overpaid.
 * - `refunds_payable`: what credit notes refund, until the money has gone.
 * - `breakage`: credits that customers paid for and did not use before they ended.
 * - `bad_debt`: what was due of invoices that are written off, less what was paid of it afterwards.
 * - `clearing`: the other side of paid credits that somebody granted. Nobody knows here how they were paid.
 */
export type BookAccount =
  | "cash"
  | "receivable"
  | "clearing"
  | "contract_liability"
  | "refunds_payable"
  | "tax_payable"
  | "revenue"
  | "breakage"
  | "bad_debt"

/** All accounts, in the order of a balance sheet and then of an income statement. */
export const BOOK_ACCOUNTS: ReadonlyArray<BookAccount> = [
  "cash",
  "receivable",
  "clearing",
  "contract_liability",
  "refunds_payable",
  "tax_payable",
  "revenue",
  "breakage",
  "bad_debt",
]

/** What an entry books, in the order in which those of a day are listed. */
export const JOURNAL_KINDS = [
  "invoice",
  "credit_note",
  "payment",
  "refund",
  "dispute",
  "write_off",
  "recognition",
  "void",
  "grant",
  "credit_use",
  "breakage",
] as const
export type JournalKind = (typeof JOURNAL_KINDS)[number]

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
  /** The id of the invoice, credit note, payment, refund, dispute or grant. */
  readonly documentId: string
  /** `null` for entries of credits. */
  readonly invoiceId: string | null
  readonly customerId: string
  readonly currency: string
  /** At most one for an account, in the order of `BOOK_ACCOUNTS`. */
  readonly postings: ReadonlyArray<Posting>
}

/** Whose entries these are. */
interface BookOwner {
  readonly invoiceId: string | null
  readonly customerId: string
  readonly currency: string
}

type Amounts = Partial<Record<BookAccount, bigint>>

/** The number of the UTC day of an instant in epoch milliseconds. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MILLIS)

/** The UTC day as text, such as `2026-01-31`. */
const dayText = (day: number): string => format(day * DAY_MILLIS).slice(0, "2026-01-31".length)

interface Open {
  readonly day: number
  readonly kind: JournalKind
  readonly documentId: string
  readonly amounts: Map<BookAccount, bigint>
}

/** Collects amounts. Those of a day, a kind and a document are one entry. */
export class Book {
  readonly #owner: BookOwner
  readonly #last: number
  readonly #open = new Map<string, Open>()

  /** `last` is the last day that is booked. */
  constructor(owner: BookOwner, last: number) {
    this.#owner = owner
    this.#last = last
  }

  add(kind: JournalKind, documentId: string, at: number, amounts: Amounts): void {
    this.addOn(kind, documentId, dayOf(at), amounts)
  }

  addOn(kind: JournalKind, documentId: string, day: number, amounts: Amounts): void {
    if (day > this.#last) return
    const key = `${day} ${kind} ${documentId}`
    const open = this.#open.get(key) ?? { day, kind, documentId, amounts: new Map() }
    this.#open.set(key, open)
    for (const [account, amount] of Object.entries(amounts) as ReadonlyArray<[BookAccount, bigint]>) {
      open.amounts.set(account, (open.amounts.get(account) ?? 0n) + amount)
    }
  }

  /** In the order of their days. */
  get entries(): ReadonlyArray<JournalEntry> {
    const found: Array<JournalEntry> = []
    for (const { amounts, day, documentId, kind } of [...this.#open.values()].sort(byDay)) {
      const postings = BOOK_ACCOUNTS.flatMap((account) => {
        const amount = amounts.get(account) ?? 0n
        return amount === 0n ? [] : [{ account, amount }]
      })
      if (postings.length === 0) continue
      found.push({ day: dayText(day), kind, documentId, ...this.#owner, postings })
    }
    return found
  }
}

const orderOf = (kind: JournalKind): number => JOURNAL_KINDS.indexOf(kind)

const byDay = (a: Open, b: Open): number =>
  a.day - b.day || orderOf(a.kind) - orderOf(b.kind) || (a.documentId < b.documentId ? -1 : 1)

/** What each account comes to, of entries of one currency. The sum of all is 0. */
export const trialBalance = (entries: ReadonlyArray<JournalEntry>): ReadonlyMap<BookAccount, bigint> => {
  const balances = new Map<BookAccount, bigint>()
  for (const { account, amount } of entries.flatMap(({ postings }) => postings)) {
    balances.set(account, (balances.get(account) ?? 0n) + amount)
  }
  return balances
}
