/**
 * The overview of money: what comes each month, what was invoiced and collected, and what is outstanding.
 */
import type { CallOptions } from "../Call.ts"

/** How many there are, and what they come to. */
export interface MoneyFigure {
  readonly count: number
  /** In the minor unit of the currency. */
  readonly amount: bigint
}

/** The figures of one currency. */
export interface CurrencyMoney {
  /** The ISO 4217 code of the currency. */
  readonly currency: string
  /**
   * What active subscriptions cost a month, without usage and before discounts and taxes, rounded once. A year counts as a
   * twelfth a month, and a day as a 365th of a year.
   */
  readonly recurring: MoneyFigure
  /** The totals of invoices that were issued after `since` and not voided. */
  readonly invoiced: MoneyFigure
  /** The payments that succeeded after `since`. What was refunded later is not taken off. */
  readonly collected: MoneyFigure
  /** What is due of open invoices: the sum of the four figures by age. */
  readonly outstanding: MoneyFigure
  readonly notDue: MoneyFigure
  /** Late by up to 30 days. */
  readonly lateThirty: MoneyFigure
  /** Late by more than 30 and up to 60 days. */
  readonly lateSixty: MoneyFigure
  /** Late by more than 60 days. */
  readonly lateMore: MoneyFigure
  /** What is due of open invoices whose payment was declined, and is tried again by itself. */
  readonly toRetry: MoneyFigure
}

/** What the money of an account and mode comes to. */
export interface MoneyOverview {
  readonly at: Date
  /** 30 days before. What was invoiced and collected is after it. */
  readonly since: Date
  /** The currencies that have any figure, by their codes. Nothing is converted. */
  readonly currencies: ReadonlyArray<CurrencyMoney>
  /** `false` if active subscriptions have more than 10,000 different terms: `recurring` then leaves some out. */
  readonly isComplete: boolean
}

/**
 * Figures of everything that is stored. Errors: `InvoicingUnsupportedError` on a store without invoices.
 */
export interface MoneyFigures {
  /**
   * The figures as of now. The lists of invoices and payments show what makes each, with `figure` and `currency`. Due dates
   * are compared with the real clock, also for customers of test clocks.
   */
  overview(options?: CallOptions): Promise<MoneyOverview>
}
