/**
 * The words of pages for payers. Each language has all of them: the compiler sees to that. `{name}` stands for a value, and
 * a test compares the values of all languages.
 */
import type { Interval } from "../catalog/Plan.ts"

/** The words of one language. */
export interface PayerTexts {
  /** That nothing here is real. */
  readonly test: string
  /** The names of regions and lists, for screen readers. */
  readonly payment: string
  // How an invoice stands.
  readonly paid: string
  readonly nothingDue: string
  readonly void: string
  readonly due: string
  readonly dueBy: string
  readonly wasDue: string
  readonly processing: string
  readonly waiting: string
  readonly confirmation: string
  readonly declined: string
  // What a payer can do with it.
  readonly pay: string
  readonly payWith: string
  readonly payByCard: string
  readonly otherCard: string
  readonly confirm: string
  readonly pdf: string
  // A card.
  readonly method: string
  readonly unknownMethod: string
  // Pages that say one thing.
  readonly leaving: string
  readonly leavingMore: string
  readonly continue: string
  readonly back: string
  readonly wrong: string
  readonly wrongMore: string
  readonly expired: string
  readonly expiredMore: string
  readonly refused: string
  readonly refusedMore: string
  readonly failed: string
  readonly impossible: string
  readonly tooMany: string
  readonly tooManyMore: string
  readonly providerFailed: string
  readonly unavailable: string
  // The pages of a customer.
  readonly account: string
  readonly plan: string
  readonly noPlan: string
  /** A price for one unit of time, and for several: `{price}`, `{count}`. */
  readonly each: Readonly<Record<Interval["unit"], string>>
  readonly every: Readonly<Record<Interval["unit"], string>>
  readonly plusUsage: string
  readonly trialUntil: string
  readonly startsOn: string
  readonly endsOn: string
  readonly paused: string
  readonly pastDue: string
  readonly nextInvoice: string
  readonly nextOn: string
  readonly usage: string
  readonly asOfNow: string
  readonly noUsage: string
  readonly invoices: string
  readonly noInvoices: string
  readonly older: string
  readonly newest: string
  readonly invoiceOf: string
  readonly statuses: Readonly<Record<"open" | "overdue" | "paid" | "void" | "uncollectible", string>>
  readonly methods: string
  readonly noMethods: string
  readonly validUntil: string
  readonly isDefault: string
  readonly makeDefault: string
  readonly addMethod: string
  readonly cancel: string
  readonly cancelNamed: string
  readonly cancelMore: string
  readonly cancelNow: string
  readonly keep: string
  readonly uncancel: string
}
