/**
 * What a run of billing leaves behind: everything stored about subscriptions and invoices. Checkers see only this.
 */
import type {
  Coupon,
  CreditNote,
  Event,
  Invoice,
  InvoiceItem,
  Payment,
  Plan,
  PlanMigration,
  Redemption,
  Subscription,
  Tenant,
  TestClock,
  UsageRecord,
} from "@billwright/core"
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
  readonly customers: ReadonlyArray<
    OfTenant & { readonly id: string; readonly testClockId: string | null; readonly isErased?: boolean }
  >
  readonly clocks: ReadonlyArray<OfTenant & { readonly clock: TestClock.TestClock }>
  readonly records: ReadonlyArray<
    OfTenant & {
      readonly record: UsageRecord.UsageRecord
      /** When it was written, by the test clock of its customer. Without it: at its `createdAt`. */
      readonly writtenAt?: number | undefined
    }
  >
  /** How far the clocks of processes that record and void usage may be set back, in milliseconds. */
  readonly clockSlack?: number
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
  /** Where payments are collected. */
  readonly payments?: ReadonlyArray<OfTenant & { readonly payment: Payment.StoredPayment }>
  readonly creditNotes: ReadonlyArray<OfTenant & { readonly note: CreditNote.CreditNote }>
  readonly coupons: ReadonlyArray<OfTenant & { readonly coupon: Coupon.Coupon }>
  readonly redemptions: ReadonlyArray<OfTenant & { readonly redemption: Redemption.Redemption }>
  /** Those that were made with an amount in their metadata (`given`) have to come to it. */
  readonly items: ReadonlyArray<OfTenant & { readonly item: InvoiceItem.InvoiceItem }>
  readonly migrations: ReadonlyArray<OfTenant & { readonly migration: PlanMigration.PlanMigration }>
  /** Those of a tenant in the order of their commits. */
  readonly events: ReadonlyArray<OfTenant & { readonly event: Event.Event }>
  /** What issued invoices and credit notes stated when they were seen during the run. */
  readonly seen: ReadonlyArray<OfTenant & { readonly id: string; readonly text: string }>
  /** Work that was due at the end, and was not done. */
  readonly overdue: ReadonlyArray<string>
  /** The formats of the numbers of invoices, and of credit notes. */
  readonly numberFormat: string
  readonly creditNoteFormat: string
  /** Whether invoices are taxed by the table of the simulation. */
  readonly isTaxed: boolean
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
