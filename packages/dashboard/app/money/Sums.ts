/**
 * The figures of money, from invoices, payments and subscriptions. Amounts of different currencies are never added.
 */
import type { Invoice, Payment, Plan } from "../api/Types.ts"
import type { WireInteger } from "../Quantity.ts"
import type { Fraction } from "./Fraction.ts"

const DAY_MILLIS = 86_400_000
/** The days of what was invoiced and collected. */
export const DAYS = 30

/** What a figure is made of. */
export const WHICH = [
  "invoiced",
  "outstanding",
  "not_due",
  "late_30",
  "late_60",
  "late_more",
  "to_retry",
] as const
export type Which = (typeof WHICH)[number]

export const WHICH_NAMES: Readonly<Record<Which, string>> = {
  invoiced: `Invoiced in ${DAYS} days`,
  outstanding: "Outstanding",
  not_due: "Not due yet",
  late_30: "Late up to 30 days",
  late_60: "Late 31 to 60 days",
  late_more: "Late above 60 days",
  to_retry: "Declined, tried again",
}

const isRecent = (at: string | null, now: number): boolean =>
  at !== null && Date.parse(at) > now - DAYS * DAY_MILLIS && Date.parse(at) <= now

/** By how many days an invoice is late. 0 or less: it is not. */
const daysLate = ({ due_at: due }: Invoice, now: number): number =>
  due === null ? 0 : (now - Date.parse(due)) / DAY_MILLIS

const isIssued = ({ status }: Invoice): boolean => status !== "draft" && status !== "void"
const isOpen = ({ status }: Invoice): boolean => status === "open"

const TESTS: Readonly<Record<Which, (invoice: Invoice, now: number) => boolean>> = {
  invoiced: (invoice, now) => isIssued(invoice) && isRecent(invoice.issued_at, now),
  outstanding: isOpen,
  not_due: (invoice, now) => isOpen(invoice) && daysLate(invoice, now) <= 0,
  late_30: (invoice, now) => isOpen(invoice) && daysLate(invoice, now) > 0 && daysLate(invoice, now) <= 30,
  late_60: (invoice, now) => isOpen(invoice) && daysLate(invoice, now) > 30 && daysLate(invoice, now) <= 60,
  late_more: (invoice, now) => isOpen(invoice) && daysLate(invoice, now) > 60,
  to_retry: (invoice) => isOpen(invoice) && invoice.collection === "retrying",
}

/** The invoices that a figure is made of. */
export const invoicesOf = (
  which: Which,
  currency: string,
  invoices: ReadonlyArray<Invoice>,
  now: number,
): ReadonlyArray<Invoice> =>
  invoices.filter((invoice) => invoice.currency === currency && TESTS[which](invoice, now))

/** What counts of each: the total of what was invoiced, else what is left to pay. */
export const amountOf = (which: Which, { amount_due: due, total }: Invoice): WireInteger =>
  which === "invoiced" ? total : due

/** The payments that came in the last days. */
export const collectedOf = (
  currency: string,
  payments: ReadonlyArray<Payment>,
  now: number,
): ReadonlyArray<Payment> =>
  payments.filter(
    (payment) =>
      payment.currency === currency && payment.status === "succeeded" && isRecent(payment.paid_at, now),
  )

/** The days of a year, as an average month is a twelfth of them. */
const YEAR_DAYS = 365n

/** How many months a count of units has: its part of an amount is the amount divided by it. */
export const monthly = (amount: bigint, { count, unit }: Plan["terms"]["interval"]): Fraction => {
  const units = BigInt(count)
  if (unit === "month") return { numerator: amount, denominator: units }
  if (unit === "year") return { numerator: amount, denominator: 12n * units }
  const days = unit === "week" ? 7n : 1n
  return { numerator: amount * YEAR_DAYS, denominator: 12n * days * units }
}
