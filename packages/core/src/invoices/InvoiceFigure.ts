/**
 * The figures that invoices are summed up as, and which invoices make each.
 */
import type { Invoice as EngineInvoice } from "@billwright/engine"
import { Schema } from "effect"
import { daysBefore, MONEY_DAYS, type MoneySum } from "../shared/MoneySum.ts"

/**
 * - `invoiced`: issued in the last `MONEY_DAYS` days, and not voided. Its amount is the total.
 * - `outstanding`: open. Its amount, as that of all below, is what is due.
 * - `not_due`, `late_thirty`, `late_sixty`, `late_more`: open, by their due date. They sum to `outstanding`.
 * - `to_retry`: open, and declined. It is tried again by itself.
 */
export const InvoiceFigure = Schema.Literals([
  "invoiced",
  "outstanding",
  "not_due",
  "late_thirty",
  "late_sixty",
  "late_more",
  "to_retry",
])
export type InvoiceFigure = typeof InvoiceFigure.Type

/** Since when invoices of the oldest two ages but one are late, in days. */
export const LATE_DAYS = { thirty: 30, sixty: 60 } as const

/** A figure at an instant, in epoch milliseconds. */
export interface FigureAt<Figure = InvoiceFigure> {
  readonly figure: Figure
  readonly at: number
}

/** What the invoices of a figure come to in a currency. */
export interface InvoiceSum extends MoneySum {
  readonly figure: InvoiceFigure
}

/** The parts of an invoice that say which figures it makes. */
type Counted = Pick<
  EngineInvoice,
  "status" | "collection" | "issuedAt" | "dueAt" | "total" | "amountDue" | "currency"
>

const ageOf = (dueAt: number | null, at: number): InvoiceFigure => {
  if (dueAt === null || dueAt >= at) return "not_due"
  if (dueAt >= daysBefore(at, LATE_DAYS.thirty)) return "late_thirty"
  return dueAt >= daysBefore(at, LATE_DAYS.sixty) ? "late_sixty" : "late_more"
}

/** The figures that an invoice makes at an instant, in epoch milliseconds. */
export const figuresOf = (
  { collection, dueAt, issuedAt, status }: Omit<Counted, "total" | "amountDue" | "currency">,
  at: number,
): ReadonlyArray<InvoiceFigure> => {
  if (status === "draft" || status === "void") return []
  const isRecent = issuedAt !== null && issuedAt > daysBefore(at, MONEY_DAYS) && issuedAt <= at
  return [
    ...(isRecent ? (["invoiced"] as const) : []),
    ...(status === "open" ? (["outstanding", ageOf(dueAt, at)] as const) : []),
    ...(status === "open" && collection === "retrying" ? (["to_retry"] as const) : []),
  ]
}

/** What an invoice counts in a figure, in the minor unit of its currency. */
export const amountIn = (figure: InvoiceFigure, { amountDue, total }: Counted): bigint =>
  figure === "invoiced" ? total : amountDue
