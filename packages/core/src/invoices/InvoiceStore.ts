/**
 * The storage port for invoices and the series of their numbers.
 */
import type { Line, LineCredit, NumberSeries } from "@billwright/engine"
import { Context, type Effect, type Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { FailureFilter } from "../shared/Due.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant, Tenant } from "../shared/Tenant.ts"
import type { InvoiceId, InvoiceStatus, StoredInvoice } from "./Invoice.ts"
import type { FigureAt, InvoiceSum } from "./InvoiceFigure.ts"
import type { SubscriptionId } from "./SubscriptionId.ts"

export type { LineCredit, NumberSeries } from "@billwright/engine"

/** Which invoices to list. `undefined` allows any. */
export interface InvoiceFilter {
  readonly customerId?: CustomerId | undefined
  /** A subscription among those of the invoice. */
  readonly subscriptionId?: SubscriptionId | undefined
  readonly status?: InvoiceStatus | undefined
  readonly currency?: string | undefined
  /** Those that make the figure: see `figuresOf`. */
  readonly figure?: FigureAt | undefined
  /** Those whose last billing run failed. */
  readonly failure?: FailureFilter | undefined
}

/** What numbers are for. Each kind of document has a series of its own. */
export type SeriesName = "invoice" | "credit_note"

/** A line that bills a subscription, without its explanation, and the invoice that it is on. */
export interface BilledLine {
  readonly invoiceId: InvoiceId
  readonly status: InvoiceStatus
  readonly line: Omit<Line, "steps" | "receipt">
  /** What credit notes gave back of the line. */
  readonly forgiven: bigint
}

/** What a coupon took off an invoice. */
export interface CouponUse {
  readonly invoiceId: InvoiceId
  readonly status: InvoiceStatus
  /** The number of the period of the invoice's cause that is the subscription's. */
  readonly period: number
  readonly redemptionId: string
  readonly amount: bigint
}

/**
 * Every verb acts for the current tenant only and joins the current transaction, if there is one. Without a transaction,
 * each verb is atomic. Values given out share nothing with what is stored.
 *
 * Stored invoices keep these rules, which a storage with constraints should also refuse to break: the sums of an
 * invoice are right; a series has no gaps, and `issuedAt` never falls in it; of an issued invoice only
 * `status`, `amountPaid`, `amountCredited`, `amountWaived`, `amountDue`, `collection`, `availableActions`, `sequence` and
 * `pastDueSince`, `voidedAt` and `writtenOffAt` change.
 */
export class InvoiceStore extends Context.Service<
  InvoiceStore,
  {
    /**
     * Stores a new invoice: a draft, or one that is issued at once. Fails with a `StorageError` if its id is taken, if
     * another invoice of the tenant has its number, or if a subscription of its `causes` already has an invoice for the
     * period's number and the segment of the cause: one of its own, or one of several.
     */
    readonly insert: (invoice: StoredInvoice) => Effect.Effect<void, StorageError, CurrentTenant>

    readonly find: (id: InvoiceId) => Effect.Effect<Option.Option<StoredInvoice>, StorageError, CurrentTenant>

    /**
     * Newest first. The cursor is the id of an invoice. A page ends early, with `hasMore`, before an invoice that would
     * make its lines larger than `Page.MAX_PAGE_BYTES` as JSON.
     */
    readonly list: (
      filter: InvoiceFilter,
      page: PageQuery,
    ) => Effect.Effect<Page<StoredInvoice>, CursorNotFound | StorageError, CurrentTenant>

    /**
     * What all invoices of the tenant come to at an instant in epoch milliseconds, by figure and currency, in any order.
     * A figure without an invoice is left out. `figuresOf` and `amountIn` say what counts. One statement, so that the
     * figures agree with each other. It should read no lines, and no invoice that makes no figure.
     */
    readonly sums: (at: number) => Effect.Effect<ReadonlyArray<InvoiceSum>, StorageError, CurrentTenant>

    /**
     * The tenants that have invoices, drafts included, by account and mode: at most so many, after a tenant or from the
     * beginning. It acts for all tenants.
     */
    readonly tenants: (
      after: Tenant | undefined,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<Tenant>, StorageError>

    /** Reads an invoice, and holds it until the transaction ends: nobody else changes it. Call it inside a transaction. */
    readonly lock: (id: InvoiceId) => Effect.Effect<Option.Option<StoredInvoice>, StorageError, CurrentTenant>

    /**
     * The same, after it holds the subscriptions that the lines of the invoice bill, in the order of their ids. So nobody
     * bills them meanwhile. Call it inside a transaction that holds nothing else of billing.
     */
    readonly lockWithSubscriptions: (
      id: InvoiceId,
    ) => Effect.Effect<Option.Option<StoredInvoice>, StorageError, CurrentTenant>

    /**
     * Replaces an invoice that the current transaction holds. Its id, customer, subscription, `causes` and `createdAt` stay.
     * Ends a lease on it and forgets its failures: what is due at `dueAt` is due for the first time. Does nothing if there
     * is no such invoice. Fails with a `StorageError` if another invoice of the tenant has its number.
     */
    readonly save: (invoice: StoredInvoice) => Effect.Effect<void, StorageError, CurrentTenant>

    /**
     * Removes a draft that the current transaction holds, with its lines and its place in the queue. Fails with a
     * `StorageError` if the invoice is issued. Does nothing if there is no such invoice.
     */
    readonly remove: (id: InvoiceId) => Effect.Effect<void, StorageError, CurrentTenant>

    /**
     * The lines whose `origin` is a period of the subscription from a number on, of invoices of any status, drafts
     * included. In the order of the invoices' ids, then of their lines.
     */
    readonly billedLines: (
      subscriptionId: SubscriptionId,
      fromPeriod: number,
    ) => Effect.Effect<ReadonlyArray<BilledLine>, StorageError, CurrentTenant>

    /**
     * For each subscription, since when one of its invoices is late: the earliest `pastDueSince` of its open invoices, also
     * of those of several subscriptions. `null`: none is.
     */
    readonly pastDueSince: (
      subscriptionIds: ReadonlyArray<SubscriptionId>,
    ) => Effect.Effect<ReadonlyArray<number | null>, StorageError, CurrentTenant>

    /**
     * What coupons took off the invoices of a subscription, also those of several, for its periods from a number on, drafts
     * included: issued ones in the order in which they were issued, then drafts by id. Coupons of other subscriptions may be
     * among them. It should read no invoices without discounts: a subscription has many, and is asked about for each.
     */
    readonly couponUses: (
      subscriptionId: SubscriptionId,
      fromPeriod: number,
    ) => Effect.Effect<ReadonlyArray<CouponUse>, StorageError, CurrentTenant>

    /**
     * What lines of other invoices, issued ones, give back of the lines of an invoice (`creditOf`): amounts greater than 0,
     * in the order of the invoices' ids, then of their lines. A void invoice gives nothing back, and
     * what credit notes gave back of such a line is not given back by it any more.
     */
    readonly creditsOf: (
      id: InvoiceId,
    ) => Effect.Effect<ReadonlyArray<LineCredit>, StorageError, CurrentTenant>

    /**
     * The drafts of subscriptions, each once, oldest first, and held until the transaction ends, as by `lock`. Call it
     * inside a transaction that holds the subscriptions.
     */
    readonly lockDrafts: (
      subscriptionIds: ReadonlyArray<SubscriptionId>,
    ) => Effect.Effect<ReadonlyArray<StoredInvoice>, StorageError, CurrentTenant>

    /**
     * Reads the state of a series and holds it until the transaction ends, so that numbers are taken one after another.
     * `none` if no number was taken yet; then, too, no other transaction takes the first one. Call it inside a
     * transaction, after everything else that the transaction locks.
     */
    readonly lockSeries: (
      name: SeriesName,
    ) => Effect.Effect<Option.Option<NumberSeries>, StorageError, CurrentTenant>

    /** Reads the state of a series, without waiting for anybody. `none` if no number was taken yet. */
    readonly findSeries: (
      name: SeriesName,
    ) => Effect.Effect<Option.Option<NumberSeries>, StorageError, CurrentTenant>

    /**
     * Stores the state of a series that the current transaction holds. Call it before the invoices that have its new numbers
     * are written: a storage may refuse a number that nobody has taken.
     */
    readonly saveSeries: (
      name: SeriesName,
      series: NumberSeries,
    ) => Effect.Effect<void, StorageError, CurrentTenant>
  }
>()("@billwright/core/invoices/InvoiceStore") {}
