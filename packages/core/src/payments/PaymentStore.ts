/**
 * The storage port for payments.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { InvoiceId } from "../invoices/Invoice.ts"
import type { FigureAt } from "../invoices/InvoiceFigure.ts"
import type { MoneySum } from "../shared/MoneySum.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { PaymentId, PaymentStatus, StoredPayment } from "./Payment.ts"
import type { PaymentFigure } from "./PaymentFigure.ts"

/** Which payments to list. `undefined` allows any. */
export interface PaymentFilter {
  readonly customerId?: CustomerId | undefined
  readonly invoiceId?: InvoiceId | undefined
  readonly status?: PaymentStatus | undefined
  readonly currency?: string | undefined
  /** Those that make the figure: see `isOfFigure`. */
  readonly figure?: FigureAt<PaymentFigure> | undefined
}

/**
 * Every verb acts for the current tenant only and joins the current transaction, if there is one. Without a transaction,
 * each verb is atomic. Values given out share nothing with what is stored.
 *
 * Whoever writes payments of an invoice holds the invoice (`InvoiceStore.lock`) in the same transaction.
 *
 * Stored payments keep these rules, which a storage with constraints should also refuse to break: the `amountPaid` of an
 * invoice is the sum of what its payments applied; money is overpaid only when nothing of the invoice is due; a payment
 * that has succeeded never changes.
 */
export class PaymentStore extends Context.Service<
  PaymentStore,
  {
    /**
     * Stores a new payment of a stored invoice. Fails with a `StorageError` if its id is taken, if the invoice has another
     * open payment and this one is open, or if another payment of the invoice has its provider and reference.
     */
    readonly insert: (payment: StoredPayment) => Effect.Effect<void, StorageError, CurrentTenant>

    /**
     * Replaces a payment. Its id, invoice, customer, currency, provider, amount and `createdAt` stay. Ends a lease on it and
     * forgets its failures: what is due at `dueAt` is due for the first time. Does nothing if there is no such payment.
     */
    readonly save: (payment: StoredPayment) => Effect.Effect<void, StorageError, CurrentTenant>

    readonly find: (id: PaymentId) => Effect.Effect<Option.Option<StoredPayment>, StorageError, CurrentTenant>

    /** The payment that a provider knows by a reference. Of several, the newest. */
    readonly findByReference: (
      provider: string,
      reference: string,
    ) => Effect.Effect<Option.Option<StoredPayment>, StorageError, CurrentTenant>

    /**
     * Notes that an event of a provider was received at an instant. Gives false if it was noted before. Of several that note
     * the same event at once, one gets true; the others wait for the end of its transaction.
     *
     * Events of the tenant that were received `EVENT_RETENTION_DAYS` before the instant are forgotten, oldest first, at most
     * `MAX_FORGOTTEN_EVENTS` of them. Those that another transaction holds are left for the next time.
     */
    readonly noteEvent: (
      provider: string,
      eventId: string,
      at: DateTime.Utc,
    ) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /** Whether an event of a provider was noted. */
    readonly hasEvent: (
      provider: string,
      eventId: string,
    ) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /** Newest first. The cursor is the id of a payment. */
    readonly list: (
      filter: PaymentFilter,
      page: PageQuery,
    ) => Effect.Effect<Page<StoredPayment>, CursorNotFound | StorageError, CurrentTenant>

    /**
     * What the payments of the figure `collected` come to at an instant in epoch milliseconds, by currency, in any order: the
     * sums of their amounts. It should read no other payments.
     */
    readonly collected: (at: number) => Effect.Effect<ReadonlyArray<MoneySum>, StorageError, CurrentTenant>

    /** All payments of an invoice, oldest first. An invoice has `MAX_PAYMENTS` at most. */
    readonly ofInvoice: (
      id: InvoiceId,
    ) => Effect.Effect<ReadonlyArray<StoredPayment>, StorageError, CurrentTenant>
  }
>()("@billwright/core/payments/PaymentStore") {}
