/**
 * The figures of money, by the names of the API. Each is a filter of the list of what makes it.
 */
import type { MoneyOverview } from "../api/Types.ts"

/** The figures of one currency. */
export type CurrencyMoney = MoneyOverview["currencies"][number]

export type InvoiceFigure = Exclude<keyof CurrencyMoney, "currency" | "recurring" | "collected">

export const INVOICE_FIGURES: Readonly<Record<InvoiceFigure, string>> = {
  invoiced: "Invoiced in 30 days",
  outstanding: "Outstanding",
  not_due: "Not due yet",
  late_thirty: "Late up to 30 days",
  late_sixty: "Late 31 to 60 days",
  late_more: "Late above 60 days",
  to_retry: "Declined, tried again",
}

export const PAYMENT_FIGURES = {
  collected: "Collected in 30 days",
  attention: "A person has to look",
} as const

/** Figures as the options of a filter. */
export const figureOptions = (figures: Readonly<Record<string, string>>) => Object.entries(figures)
