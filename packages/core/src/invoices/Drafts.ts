/**
 * What a draft comes to now. Subscriptions provide it, because they know what their periods cost.
 */
import { Context, Effect } from "effect"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { StoredInvoice } from "./Invoice.ts"
import type { InvoicingUnsupported } from "./InvoicingUnsupported.ts"

/** Computes drafts for readers. */
export interface DraftReader {
  /**
   * The draft with today's lines. Nothing is written, and its `sequence` stays. An invoice that is issued is given as it
   * is.
   */
  readonly today: (
    stored: StoredInvoice,
  ) => Effect.Effect<StoredInvoice, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>
}

/** Without it, drafts are shown as they were last stored. */
export class Drafts extends Context.Reference<DraftReader>("@billwright/core/invoices/Drafts", {
  defaultValue: () => ({ today: Effect.succeed }),
}) {}
