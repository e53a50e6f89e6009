/**
 * An invoice. Its rules and arithmetic are those of `@billwright/engine`.
 */
import type { BillingEffect, Invoice as EngineInvoice } from "@billwright/engine"
import { type DateTime, Schema } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { Due, DueFailure } from "../shared/Due.ts"
import * as Id from "../shared/Id.ts"
import * as NotFound from "../shared/NotFound.ts"
import type { SubscriptionId } from "./SubscriptionId.ts"
import type { StoredTax } from "./Taxes.ts"

/** The prefix of invoice ids. */
export const INVOICE_ID_PREFIX = "inv"

export const InvoiceId = Id.schema(INVOICE_ID_PREFIX).pipe(Schema.brand("InvoiceId"))
export type InvoiceId = typeof InvoiceId.Type

export const InvoiceStatus = Schema.Literals(["draft", "open", "paid", "void", "uncollectible"])
export type InvoiceStatus = typeof InvoiceStatus.Type

/** What made an invoice: everything of a subscription up to the `at` of the effect is billed. */
export interface InvoiceCause {
  readonly subscriptionId: SubscriptionId
  readonly effect: BillingEffect
}

/**
 * An invoice as it is stored. While it is a draft, `dueAt` is when it is finalized. Afterwards it is when its due date is
 * over, and `null` once that was noted.
 */
export interface StoredInvoice extends Due {
  readonly id: InvoiceId
  readonly customerId: CustomerId
  /** `null` for an invoice without a subscription, and for one of several. */
  readonly subscriptionId: SubscriptionId | null
  /**
   * What made it, in the order of the subscriptions' ids: one cause, or several of one instant, or none for an invoice
   * without a subscription. Until the invoice is finalized, its lines are computed from that. A subscription has one
   * invoice at most for a period's number and a segment.
   */
  readonly causes: ReadonlyArray<InvoiceCause>
  /** The invoice with its lines, as plain data with bigints. Its id, customer and subscription are those above. */
  readonly state: EngineInvoice
  /** What its lines were taxed by. */
  readonly taxedBy: StoredTax
  /**
   * When its payment was late first: when an attempt was declined, or when its due date was over. In epoch milliseconds.
   * It stays when the invoice is paid.
   */
  readonly pastDueSince: number | null
  /** When it was voided, in epoch milliseconds. `null`: it is not void. */
  readonly voidedAt: number | null
  /** When it was written off, in epoch milliseconds. It stays when the invoice is paid, until it is open again. */
  readonly writtenOffAt: number | null
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

/**
 * An invoice, with what the engine says about it: its lines, amounts and `availableActions`. The instants of the engine are
 * in epoch milliseconds: `invoiceView` gives all of them as `DateTime.Utc`.
 */
export interface Invoice extends Omit<EngineInvoice, "id" | "customerId" | "subscriptionId"> {
  readonly id: InvoiceId
  readonly customerId: CustomerId
  /** `null` for an invoice without a subscription, and for one of several. */
  readonly subscriptionId: SubscriptionId | null
  /** The subscriptions that it bills, in the order of their ids. */
  readonly subscriptionIds: ReadonlyArray<SubscriptionId>
  /** When a draft is finalized, in epoch milliseconds. `null` once it is issued. */
  readonly finalizesAt: number | null
  /** Since when the payment of an open invoice is late, in epoch milliseconds. `null`: it is not. */
  readonly pastDueSince: number | null
  /** Why its finalization failed last. `null` unless it did. */
  readonly failure: DueFailure | null
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

/** The tenant has no invoice with this id. */
export class InvoiceNotFound extends NotFound.make("InvoiceNotFound", "invoice") {}

/** The first instant after the due date of an issued invoice. */
export const overdueAtOf = ({ dueAt }: EngineInvoice): number | null => (dueAt === null ? null : dueAt + 1)

/**
 * Since when the payment of an invoice is late. `null`: it is not, or the invoice is not open any more. It was then paid,
 * voided or written off.
 */
export const pastDueSinceOf = ({ pastDueSince, state }: StoredInvoice): number | null =>
  state.status === "open" ? pastDueSince : null

/** The invoice as callers see it. */
export const toInvoice = (stored: StoredInvoice): Invoice => {
  const { causes, createdAt, customerId, dueAt, failure, id, state, subscriptionId, updatedAt } = stored
  return {
    ...state,
    id,
    customerId,
    subscriptionId,
    subscriptionIds: causes.map((cause) => cause.subscriptionId),
    finalizesAt: state.status === "draft" ? dueAt : null,
    pastDueSince: pastDueSinceOf(stored),
    failure,
    createdAt,
    updatedAt,
  }
}
