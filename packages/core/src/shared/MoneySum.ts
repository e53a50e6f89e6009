/**
 * Sums of money by currency. Amounts of different currencies are never added.
 */

/** What some invoices or payments of one currency come to. */
export interface MoneySum {
  /** The ISO 4217 code of the currency. */
  readonly currency: string
  /** How many there are. */
  readonly count: number
  /** In the minor unit of the currency. */
  readonly amount: bigint
}

/** The days before an instant whose invoices and payments are summed up. */
export const MONEY_DAYS = 30

const DAY_MILLIS = 86_400_000

/** The instant some days before another one, in epoch milliseconds. */
export const daysBefore = (at: number, days: number): number => at - days * DAY_MILLIS
