/**
 * The entries of credits that a customer paid for: what of their price is earned when they are used, and when they end.
 */
import { availableBy, type CreditEntry, type EntryKind } from "../credits/Ledger.ts"
import * as Exact from "../money/Exact.ts"
import { Book, dayOf, type JournalEntry } from "./Journal.ts"

/** What the credits of a grant cost, without tax. */
export interface GrantPrice {
  readonly currency: string
  readonly amount: bigint
  /** What credit notes took off it. */
  readonly credited: ReadonlyArray<{ readonly at: number; readonly amount: bigint }>
  /** Whether an invoice or a credit note has booked it. If not, somebody granted the credits. */
  readonly isBooked: boolean
}

/** Paid credits, and what became of them. */
export interface GrantDocuments {
  readonly id: string
  readonly customerId: string
  readonly unit: string
  /** What was granted. Greater than 0. */
  readonly amount: bigint
  readonly price: GrantPrice
  /** All entries of the grant. */
  readonly entries: ReadonlyArray<Pick<CreditEntry, "kind" | "at" | "available" | "scoped" | "held">>
}

/** What happened to a grant until the end of a day. */
interface Uses {
  readonly granted: bigint
  /** What was used of it, and the part that paid invoices, where it is booked already. */
  readonly used: bigint
  readonly applied: bigint
  /** What was left of it when it ended. */
  readonly ended: bigint
}

const NOTHING: Uses = { granted: 0n, used: 0n, applied: 0n, ended: 0n }

/** Kinds of entries that use credits, or give back what was used. A smaller plan takes with `adjust` what it does not grant any more. */
const USES: ReadonlyArray<EntryKind> = ["consume", "commit", "repay", "apply", "restore", "burn", "adjust"]

const usesOf = (before: Uses, { price, unit }: GrantDocuments, entries: GrantDocuments["entries"]): Uses => {
  let { applied, ended, granted, used } = before
  for (const entry of entries) {
    const { kind } = entry
    const change = availableBy(entry) + entry.held
    if (USES.includes(kind)) used -= change
    if (unit === price.currency && (kind === "apply" || kind === "restore")) applied -= change
    if (kind === "expire" || (kind === "void" && price.isBooked)) ended -= change
    if (kind === "grant" || (kind === "void" && !price.isBooked)) granted += change
  }
  return { granted, used, applied, ended }
}

/** What of a price is earned by the end of a day. */
interface Earned {
  readonly revenue: bigint
  readonly breakage: bigint
  readonly granted: bigint
}

/** The price of a part of the credits, rounded once. */
const priceOf = (part: bigint, price: bigint, amount: bigint): bigint =>
  Exact.roundTo(Exact.ofFraction(price * part, amount), 0)

const earnedBy = (
  { amount, price }: GrantDocuments,
  { applied, ended, granted, used }: Uses,
  day: number,
): Earned => {
  const credited = price.credited.reduce((sum, one) => (dayOf(one.at) <= day ? sum + one.amount : sum), 0n)
  const ofUsed = priceOf(used, price.amount - credited, amount)
  const ofGone = priceOf(used + ended, price.amount - credited, amount)
  return {
    revenue: ofUsed - applied,
    breakage: ofGone - ofUsed,
    granted: price.isBooked ? 0n : granted,
  }
}

/**
 * The entries of paid credits to the end of the UTC day of `until`, an instant, in the order of their days.
 *
 * What is used earns its part of the price, and what is left when the credits end is breakage: each the rounded target of
 * the day less what was booked before, so that all sum to the price. Credits in a currency that pay an invoice are booked
 * with the invoice. Credits that somebody granted have no invoice: their other side is `clearing`, and voiding them takes
 * that back.
 */
export const journalOfGrant = (documents: GrantDocuments, until: number): ReadonlyArray<JournalEntry> => {
  const { customerId, entries, id, price } = documents
  const { currency } = price
  const last = dayOf(until)
  const book = new Book({ invoiceId: null, customerId, currency }, last)
  const days = new Set([...entries, ...price.credited].map(({ at }) => dayOf(at)))
  const ofDay = Map.groupBy(entries, ({ at }) => dayOf(at))
  let uses = NOTHING
  let before: Earned = { revenue: 0n, breakage: 0n, granted: 0n }
  for (const day of [...days].filter((one) => one <= last).sort((a, b) => a - b)) {
    uses = usesOf(uses, documents, ofDay.get(day) ?? [])
    const earned = earnedBy(documents, uses, day)
    const [revenue, breakage, granted] = [
      earned.revenue - before.revenue,
      earned.breakage - before.breakage,
      earned.granted - before.granted,
    ]
    book.addOn("grant", id, day, { clearing: granted, contract_liability: -granted })
    book.addOn("credit_use", id, day, { contract_liability: revenue, revenue: -revenue })
    book.addOn("breakage", id, day, { contract_liability: breakage, breakage: -breakage })
    before = earned
  }
  return book.entries
}
