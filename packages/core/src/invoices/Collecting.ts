/**
 * What begins to collect the payment of an invoice when it is issued. Payments provide it.
 */
import { Context, Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { StoredInvoice } from "./Invoice.ts"
import type { InvoiceStore } from "./InvoiceStore.ts"

/** Begins to collect. */
export interface PaymentCollector {
  /** The invoice with its new `collection`, which is stored. The current transaction has just issued it. */
  readonly begin: (
    issued: StoredInvoice,
    invoices: InvoiceStore["Service"],
  ) => Effect.Effect<StoredInvoice, StorageError, CurrentTenant>
}

/** Without it, nothing is collected. */
export class Collecting extends Context.Reference<PaymentCollector>("@billwright/core/invoices/Collecting", {
  defaultValue: () => ({ begin: Effect.succeed }),
}) {}
