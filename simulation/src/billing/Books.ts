/**
 * What a run of billing leaves behind: everything stored about subscriptions and invoices. Checkers see only this.
 */
import type { Event, Invoice, Plan, Subscription, Tenant, UsageRecord } from "@billwright/core"
import type { Period } from "@billwright/engine"

interface OfTenant {
  readonly tenant: Tenant.Tenant
}

/** How usage of a meter is found in records. Its aggregation is `sum`. */
interface SummedMeter {
  readonly key: string
  readonly productId: string
  readonly unit: string
}

export interface Books {
  readonly customers: ReadonlyArray<OfTenant & { readonly id: string }>
  readonly records: ReadonlyArray<OfTenant & { readonly record: UsageRecord.UsageRecord }>
  readonly planVersions: ReadonlyArray<OfTenant & { readonly version: Plan.PlanVersion }>
  readonly meters: ReadonlyArray<SummedMeter>
  readonly subscriptions: ReadonlyArray<
    OfTenant & {
      readonly subscription: Subscription.StoredSubscription
      /** All of its periods, in order. */
      readonly periods: ReadonlyArray<Period>
    }
  >
  readonly invoices: ReadonlyArray<OfTenant & { readonly invoice: Invoice.StoredInvoice }>
  /** Those of a tenant in the order of their commits. */
  readonly events: ReadonlyArray<OfTenant & { readonly event: Event.Event }>
  /** What issued invoices stated when they were seen during the run. */
  readonly seen: ReadonlyArray<OfTenant & { readonly id: string; readonly text: string }>
  /** Work that was due at the end, and was not done. */
  readonly overdue: ReadonlyArray<string>
  /** The format of the numbers of invoices. */
  readonly numberFormat: string
}

/** The books, and what they have to be equal to. */
export interface BillingHistory extends Books {
  /** The result as text without ids, numbers and instants of the wall clock. */
  readonly outcome: ReadonlyArray<string>
  /** The outcome of the same commands without any fault. */
  readonly undisturbed: ReadonlyArray<string>
  /** The bugs that a fiber died of, as text. */
  readonly defects: ReadonlyArray<string>
}
