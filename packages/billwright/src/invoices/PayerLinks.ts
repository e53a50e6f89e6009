/**
 * Links to pages for payers, which need no login.
 */

/** A language that pages for payers are written in. */
export type PayerLanguage = "de" | "en" | "es" | "fr"

/** How long a link is valid, and in which language its pages are. */
export interface PayerLinkOptions {
  /**
   * For how many seconds the link is valid: 60 to 7,776,000 (90 days). Default: 30 days for an invoice, a day for the pages
   * of a customer.
   */
  readonly expiresInSeconds?: number | undefined
  /** Default: the language of the customer. The invoice itself keeps its own. */
  readonly language?: PayerLanguage | null | undefined
}

/** A link. Whoever has its address may do what it is for, so don't log it. */
export interface PayerLink {
  readonly url: string
  readonly expiresAt: Date
}
