/**
 * How the host numbers its invoices, and when they have to be paid.
 */
import { dueAtOf, problemsOfNumberFormat } from "@billwright/engine"
import { Context } from "effect"

/** What the host sets about invoices. */
export interface InvoicesOptions {
  /** The format of the numbers, with `{number:4}` and optionally `{year}`. Default: `{year}-{number:4}`. */
  readonly numberFormat?: string
  /** The same for the numbers of credit notes. Default: `CN-{year}-{number:4}`. */
  readonly creditNoteFormat?: string
  /** The time zone whose years and days count: the seller's. Default: `UTC`. */
  readonly timezone?: string
  /** How many days after it was issued an invoice has to be paid: 0 to 365. Default: 14. */
  readonly netDays?: number
}

const DEFAULTS: Required<InvoicesOptions> = {
  numberFormat: "{year}-{number:4}",
  creditNoteFormat: "CN-{year}-{number:4}",
  timezone: "UTC",
  netDays: 14,
}

/** The options, completed. */
export class InvoiceSettings extends Context.Reference<Required<InvoicesOptions>>(
  "@billwright/core/invoices/InvoiceSettings",
  { defaultValue: () => DEFAULTS },
) {}

/** Completes options. Throws a `TypeError` that names the option, because wrong options are a bug in the program. */
export const settingsOf = (options: InvoicesOptions): Required<InvoicesOptions> => {
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
  return settings
}
