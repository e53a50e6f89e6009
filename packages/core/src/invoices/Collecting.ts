/**
 * What collects the payment of an invoice from when it is issued. Payments provide it.
 */
import { Context, Effect } from "effect"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { StoredInvoice } from "./Invoice.ts"
import type { InvoiceStore } from "./InvoiceStore.ts"

/** Collects the payments of invoices. */
export interface PaymentCollector {
  /** The invoice with its new `collection`, which is stored. The current transaction has just issued it. */
  readonly begin: (
    issued: StoredInvoice,
    invoices: InvoiceStore["Service"],
  ) => Effect.Effect<StoredInvoice, InvalidInput | StorageError, CurrentTenant>

  /**
   * Takes note that something else than its finalization has happened to an invoice, which is stored: its open payment may
   * not be wanted any more.
   */
  readonly review: (changed: StoredInvoice) => Effect.Effect<void, StorageError, CurrentTenant>
}

/** Nothing is collected. */
export const NOBODY: PaymentCollector = { begin: Effect.succeed, review: () => Effect.void }

/** Without it, nothing is collected. */
export class Collecting extends Context.Reference<PaymentCollector>("@billwright/core/invoices/Collecting", {
  defaultValue: () => NOBODY,
}) {}
