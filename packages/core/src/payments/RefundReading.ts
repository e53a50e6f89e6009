/**
 * What reads a refund again that somebody has made at the provider. Billing runs provide it.
 */
import { Context, Effect } from "effect"
import type { InvoicingUnsupported } from "../invoices/InvoicingUnsupported.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { RefundId } from "./Refund.ts"

/** Plans when refunds are read. */
export interface RefundReader {
  /** The current transaction has just stored the refund. `at` is in epoch milliseconds, and `null` for never. */
  readonly plan: (
    id: RefundId,
    at: number | null,
  ) => Effect.Effect<void, InvoicingUnsupported | StorageError, CurrentTenant>
}

/** Without it, what comes of such a refund is only known when the provider tells it. */
export class RefundReading extends Context.Reference<RefundReader>(
  "@billwright/core/payments/RefundReading",
  { defaultValue: () => ({ plan: () => Effect.void }) },
) {}
