/**
 * Where the tax rates of invoices come from.
 */
import type { TaxQuote, TaxRequest } from "@billwright/engine"

export type {
  TaxBehavior,
  TaxCategory,
  TaxCustomer,
  TaxLine,
  TaxQuote,
  TaxRate,
  TaxRequest,
  TaxTable,
  TaxTableRate,
} from "@billwright/engine"

/** A tax service. */
export interface TaxService {
  /**
   * Gives a rate for each line of the request, within 10 seconds. It is asked outside of transactions, before an invoice
   * is issued, and may be asked the same more than once. When it rejects, the draft waits and is tried again, from a
   * minute later on; its `failure` says why. The signal aborts when the answer comes too late.
   */
  quote(request: TaxRequest, options: { readonly signal: AbortSignal }): Promise<TaxQuote> | TaxQuote
}
