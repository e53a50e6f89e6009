/**
 * The storage port for credit notes.
 */
import { Context, type Effect, type Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { CreditNote, CreditNoteId } from "./CreditNote.ts"
import type { InvoiceId } from "./Invoice.ts"

/** Which credit notes to list. `undefined` allows any. */
export interface CreditNoteFilter {
  readonly customerId?: CustomerId | undefined
  readonly invoiceId?: InvoiceId | undefined
}

/**
 * Every verb acts for the current tenant only and joins the current transaction, if there is one. Without a transaction,
 * each verb is atomic. Values given out share nothing with what is stored.
 *
 * Stored credit notes keep these rules, which a storage with constraints should also refuse to break: the sums of a note
 * are right; the notes of an invoice together never credit more than it has, of any line and in total, and they sum to
 * its `amountCredited`; their series has no gaps, and `issuedAt` never falls in it; a note never changes.
 */
export class CreditNoteStore extends Context.Service<
  CreditNoteStore,
  {
    /** Stores a new credit note of a stored invoice. Fails with a `StorageError` if its id is taken. */
    readonly insert: (note: CreditNote) => Effect.Effect<void, StorageError, CurrentTenant>

    readonly find: (id: CreditNoteId) => Effect.Effect<Option.Option<CreditNote>, StorageError, CurrentTenant>

    /**
     * Newest first. The cursor is the id of a credit note. A page ends early, with `hasMore`, before a note that would
     * make its lines larger than `Page.MAX_PAGE_BYTES` as JSON.
     */
    readonly list: (
      filter: CreditNoteFilter,
      page: PageQuery,
    ) => Effect.Effect<Page<CreditNote>, CursorNotFound | StorageError, CurrentTenant>

    /** All credit notes of an invoice, oldest first. An invoice has `MAX_CREDIT_NOTES` at most. */
    readonly ofInvoice: (
      id: InvoiceId,
    ) => Effect.Effect<ReadonlyArray<CreditNote>, StorageError, CurrentTenant>
  }
>()("@billwright/core/invoices/CreditNoteStore") {}
