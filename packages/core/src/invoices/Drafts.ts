/**
 * What a draft comes to now, and what the next invoice would. Subscriptions provide it, because they know what their
 * periods cost.
 */
import { Context, Effect, type Option } from "effect"
import type { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { Purpose } from "./Crediting.ts"
import type { Invoice, InvoiceId, StoredInvoice } from "./Invoice.ts"
import type { Redrafted } from "./InvoiceBook.ts"
import { InvoicingUnsupported } from "./InvoicingUnsupported.ts"
import type { SubscriptionId, SubscriptionNotFound } from "./SubscriptionId.ts"

type Failure = InvalidInput | InvoicingUnsupported | StorageError

/** Computes drafts. */
export interface DraftReader {
  /**
   * The draft with today's lines. Nothing is written, and its `sequence` stays. An invoice that is issued is given as it
   * is.
   */
  readonly today: (stored: StoredInvoice) => Effect.Effect<StoredInvoice, Failure, CurrentTenant>

  /**
   * Holds a draft and what it bills until the transaction ends, and computes it with today's lines. Fails with
   * `ActionUnavailable` if it is issued, or if a draft before it has to be issued first. `none` if there is no such invoice.
   * The `purpose` says whether it is finalized in this transaction.
   */
  readonly hold: (
    id: InvoiceId,
    purpose: Purpose,
  ) => Effect.Effect<Option.Option<Redrafted>, ActionUnavailable | Failure, CurrentTenant>

  /**
   * The invoice that a subscription gets after those that it has, with the usage that is recorded by now. Nothing is
   * written. `null` if it gets none, as while it is paused.
   */
  readonly upcoming: (
    id: SubscriptionId,
  ) => Effect.Effect<Invoice | null, SubscriptionNotFound | Failure, CurrentTenant>
}

const unsupported = () => Effect.fail(new InvoicingUnsupported())

/** Without it, drafts are shown as they were last stored, and none is issued by call. */
export class Drafts extends Context.Reference<DraftReader>("@billwright/core/invoices/Drafts", {
  defaultValue: () => ({ today: Effect.succeed, hold: unsupported, upcoming: unsupported }),
}) {}
