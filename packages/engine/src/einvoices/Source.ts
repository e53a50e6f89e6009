/**
 * What e-invoices are made from. Documents of the engine and those of the Promise API both fit.
 */
import type { PostalAddress, Seller } from "../documents/Seller.ts"
import * as ServicePeriod from "../documents/ServicePeriod.ts"
import type { CreditNoteLine } from "../invoices/CreditNote.ts"
import type { Discount } from "../invoices/Discounts.ts"
import type { InvoiceStatus } from "../invoices/Invoice.ts"
import type { LineInput } from "../invoices/Line.ts"
import type { Tax, TaxBehavior, TaxRate } from "../invoices/Tax.ts"
import * as Exact from "../money/Exact.ts"
import * as LocalTime from "../subscriptions/LocalTime.ts"
import type { EInvoiceProblem, EnPeriod } from "./Model.ts"

/** Epoch milliseconds, or a `Date`. */
export type EInvoiceInstant = number | { readonly getTime: () => number }

/** A line of an invoice. */
export interface EInvoiceLine extends Pick<
  LineInput,
  "id" | "kind" | "charge" | "description" | "quantity" | "amount" | "steps"
> {
  readonly periodStart: EInvoiceInstant | null
  readonly periodEnd: EInvoiceInstant | null
  readonly discount: bigint
  readonly net: bigint
  readonly tax: TaxRate
  readonly subscriptionId?: string | null
  readonly origin?: { readonly subscriptionId: string } | null
}

/** An issued invoice. */
export interface EInvoiceInvoice {
  readonly number: string | null
  readonly status: InvoiceStatus
  readonly currency: string
  readonly issuedAt: EInvoiceInstant | null
  readonly dueAt: EInvoiceInstant | null
  readonly taxBehavior: TaxBehavior
  readonly lines: ReadonlyArray<EInvoiceLine>
  readonly discounts: ReadonlyArray<Pick<Discount, "type" | "name" | "parts">>
  readonly tax: bigint
  readonly taxes: ReadonlyArray<Tax>
  readonly total: bigint
  readonly applied: ReadonlyArray<{ readonly amount: bigint }>
  readonly credited: bigint
}

/** A credit note. */
export interface EInvoiceCreditNote {
  readonly number: string
  readonly currency: string
  readonly issuedAt: EInvoiceInstant
  readonly taxBehavior: TaxBehavior
  readonly lines: ReadonlyArray<CreditNoteLine>
  readonly tax: bigint
  readonly taxes: ReadonlyArray<Tax>
  readonly total: bigint
  readonly waived: bigint
  readonly refund: bigint
  readonly toBalance: bigint
}

/** The buyer. */
export interface EInvoiceCustomer {
  readonly name: string
  readonly address: PostalAddress | null
  /** ISO 3166-1, two upper-case letters. */
  readonly country: string | null
  readonly taxId: string | null
  /** The time zone (IANA) whose days count for payment. `null`: the seller's. */
  readonly timezone: string | null
}

interface EInvoiceParties {
  readonly customer: EInvoiceCustomer
  readonly settings: {
    readonly seller: Seller | null
    /** The seller's time zone (IANA), in which documents are dated. */
    readonly timezone: string
  }
  /** The time zones (IANA) of subscriptions, by their ids. Their service periods are dated in them. Default: the seller's. */
  readonly timezones?: Readonly<Record<string, string>>
}

/** An invoice, with who sells and who buys. */
export interface EInvoiceInput extends EInvoiceParties {
  readonly invoice: EInvoiceInvoice
}

/** A credit note and its invoice, with who sells and who buys. */
export interface EInvoiceCreditNoteInput extends EInvoiceParties {
  readonly creditNote: EInvoiceCreditNote
  readonly invoice: Pick<EInvoiceInvoice, "number" | "issuedAt" | "lines">
}

/** Says what is missing. */
export type Missing = (term: string, name: string, field: string, problem?: string) => void

/** Collects what is missing. */
export const collect = (): { readonly missing: Missing; readonly found: ReadonlyArray<EInvoiceProblem> } => {
  const found: Array<EInvoiceProblem> = []
  return {
    missing: (term, name, field, problem = "is required") => void found.push({ term, name, field, problem }),
    found,
  }
}

const DATE_LENGTH = "2026-11-22".length

const textOfDay = (midnight: number): string => LocalTime.format(midnight).slice(0, DATE_LENGTH)

const millisOf = (instant: EInvoiceInstant): number =>
  typeof instant === "number" ? instant : instant.getTime()

/** The day of an instant in a time zone. */
export const dayOf = (instant: EInvoiceInstant, timezone: string): string =>
  textOfDay(ServicePeriod.dayOf(millisOf(instant), timezone))

/** The days of a line's half-open service period. */
export const periodOf = (line: EInvoiceLine, input: EInvoiceParties): EnPeriod | null => {
  const { origin, periodEnd, periodStart, subscriptionId } = line
  if (periodStart === null || periodEnd === null) return null
  const timezone =
    input.timezones?.[origin?.subscriptionId ?? subscriptionId ?? ""] ?? input.settings.timezone
  const { end, start } = ServicePeriod.daysOf(millisOf(periodStart), millisOf(periodEnd), timezone)
  return { start: textOfDay(start), end: textOfDay(end) }
}

/** The norm's most digits after the point of an amount (BR-DEC). */
export const MOST_DECIMALS = 2

/** Writes amounts of a currency whose minor unit has so many digits. */
export const amountWriter =
  (digits: number) =>
  (units: bigint): string => {
    const kept = Math.min(digits, MOST_DECIMALS)
    const rounded = units / Exact.powerOfTen(digits - kept)
    const text = (rounded < 0n ? -rounded : rounded).toString().padStart(kept + 1, "0")
    const sign = rounded < 0n ? "-" : ""
    return kept === 0 ? sign + text : `${sign}${text.slice(0, -kept)}.${text.slice(-kept)}`
  }

/** XML 1.0 has no other characters. */
const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

/** A text as a document has it. `null` if nothing is left of it. */
export const textOf = (text: string | null | undefined): string | null => {
  const kept = (text ?? "").replaceAll(NOT_XML, "\ufffd").trim()
  return kept === "" ? null : kept
}
