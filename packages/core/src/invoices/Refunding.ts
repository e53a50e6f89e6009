/**
 * What gives money back that a credit note refunds. Refunds provide it.
 */
import { Context, Effect } from "effect"
import type { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { CreditNote } from "./CreditNote.ts"
import type { InvoicingUnsupported } from "./InvoicingUnsupported.ts"

/** Gives back what credit notes refund. */
export interface NoteRefunder {
  /** The current transaction has just issued the note, and holds its invoice. */
  readonly refund: (
    note: CreditNote,
  ) => Effect.Effect<
    void,
    ActionUnavailable | InvalidInput | InvoicingUnsupported | StorageError,
    CurrentTenant
  >
}

/** Without it, a credit note says what is to be refunded, and nothing is. */
export class Refunding extends Context.Reference<NoteRefunder>("@billwright/core/invoices/Refunding", {
  defaultValue: () => ({ refund: () => Effect.void }),
}) {}
