/**
 * How the host numbers its invoices, when they have to be paid, how they are taxed, and what their pages show.
 */
import {
  dueAtOf,
  problemsOfNumberFormat,
  problemsOfSeller,
  problemsOfTaxTable,
  type Seller,
  type TaxTable,
} from "@billwright/engine"
import { Context, Option } from "effect"
import { Locale } from "../customers/Customer.ts"
import type { TaxService, TaxSource } from "./Taxes.ts"

/** What can happen when the payment of an invoice is not attempted any more by itself. */
const WHEN_EXHAUSTED = ["leave", "pause", "cancel", "uncollectible"] as const
type WhenExhausted = (typeof WHEN_EXHAUSTED)[number]

/** What the host sets about invoices. */
export interface InvoicesOptions {
  /**
   * The format of the numbers, with `{number:4}` and optionally `{year}`. Default: `{year}-{number:4}`.
   * A changed format has to write other numbers than those before: an invoice whose number is taken is not issued.
   */
  readonly numberFormat?: string
  /** The same for the numbers of credit notes. Default: `CN-{year}-{number:4}`. */
  readonly creditNoteFormat?: string
  /** The time zone whose years and days count: the seller's. Default: `UTC`. */
  readonly timezone?: string
  /** How many days after it was issued an invoice has to be paid, unless the customer says: 0 to 365. Default: 14. */
  readonly netDays?: number
  /**
   * What happens when the payment of an open invoice is not attempted any more by itself (`invoice.collection_exhausted`).
   * `leave`, the default: nothing. `pause`, `cancel`: the subscriptions of the invoice are paused or end at once, and what
   * was charged in advance is not credited. `uncollectible`: the invoice is written off.
   */
  readonly whenExhausted?: WhenExhausted
  /** The table by which invoices are taxed, or a tax service. Default: nothing is taxed. */
  readonly tax?: TaxTable | TaxService
  /** Who sends the invoices, as their pages show it. Default: pages name no seller. */
  readonly seller?: Seller
  /** The language of pages for customers without a `locale`, such as `de`. Default: `en`. */
  readonly locale?: string
}

/** The options, completed. */
export interface Settings extends Required<Omit<InvoicesOptions, "tax" | "seller">> {
  readonly tax: TaxSource
  readonly seller: Seller | null
}

const DEFAULTS: Settings = {
  numberFormat: "{year}-{number:4}",
  creditNoteFormat: "CN-{year}-{number:4}",
  timezone: "UTC",
  netDays: 14,
  whenExhausted: "leave",
  tax: null,
  seller: null,
  locale: "en",
}

/** What applies to all invoices. */
export class InvoiceSettings extends Context.Reference<Settings>(
  "@billwright/core/invoices/InvoiceSettings",
  { defaultValue: () => DEFAULTS },
) {}

/** Completes options. Throws a `TypeError` that names the option, because wrong options are a bug in the program. */
export const invoiceSettingsOf = (options: InvoicesOptions): Settings => {
  const settings = { ...DEFAULTS, ...options }
  for (const name of ["numberFormat", "creditNoteFormat"] as const) {
    const [problem] = problemsOfNumberFormat(settings[name])
    if (problem !== undefined) throw new TypeError(`invoices.${name} ${problem.problem}`)
  }
  try {
    dueAtOf(0, settings.netDays, settings.timezone)
  } catch (cause) {
    throw new TypeError("invoices.netDays must be 0 to 365, and invoices.timezone an IANA time zone", {
      cause,
    })
  }
  if (!WHEN_EXHAUSTED.includes(settings.whenExhausted)) {
    throw new TypeError(`invoices.whenExhausted must be ${WHEN_EXHAUSTED.join(", ")}`)
  }
  checkTax(options.tax)
  checkPages(options)
  return settings
}

/**
 * Gives options that were read from somewhere, checked. Throws a `TypeError` that names the option when one is wrong, or unknown.
 */
export const checkInvoicesOptions = (options: object): InvoicesOptions => {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(DEFAULTS, name))
  if (unknown !== undefined) {
    throw new TypeError(`invoices.${unknown} is no option: there are ${Object.keys(DEFAULTS).join(", ")}`)
  }
  invoiceSettingsOf(options)
  return options
}

const checkPages = ({ locale, seller }: InvoicesOptions): void => {
  const [problem] = seller === undefined ? [] : problemsOfSeller(seller)
  if (problem !== undefined) throw new TypeError(`invoices.${problem.path} ${problem.problem}`)
  if (locale !== undefined && Option.isNone(Locale.makeOption(locale))) {
    throw new TypeError("invoices.locale must be a language tag such as de or de-AT")
  }
}

const checkTax = (tax: InvoicesOptions["tax"]): void => {
  if (tax === undefined || (Object(tax) === tax && "quote" in tax)) return
  const [problem] = problemsOfTaxTable(tax)
  if (problem !== undefined) throw new TypeError(`invoices.tax.${problem.path} ${problem.problem}`)
}
