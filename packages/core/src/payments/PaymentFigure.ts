/**
 * The figures that payments make.
 */
import { Schema } from "effect"
import { daysBefore, MONEY_DAYS } from "../shared/MoneySum.ts"

/**
 * - `collected`: succeeded, and paid in the last `MONEY_DAYS` days.
 * - `attention`: a person has to look at it.
 */
export const PaymentFigure = Schema.Literals(["collected", "attention"])
export type PaymentFigure = typeof PaymentFigure.Type

/** The parts of a stored payment that say which figures it makes. */
interface Counted {
  readonly collection: { readonly attention?: unknown } | null
  /** In epoch milliseconds. */
  readonly paidAt: number | null
  readonly status: string
}

/** Whether a payment makes a figure at an instant, in epoch milliseconds. */
export const isOfFigure = (
  figure: PaymentFigure,
  { collection, paidAt, status }: Counted,
  at: number,
): boolean => {
  if (figure === "attention") return collection?.attention !== undefined
  const isRecent = paidAt !== null && paidAt > daysBefore(at, MONEY_DAYS) && paidAt <= at
  return status === "succeeded" && isRecent
}
