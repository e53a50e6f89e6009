/**
 * A snapshot of a customer: everything that is needed to go on billing this customer elsewhere.
 */
import { Schema } from "effect"
import type { Plan, PlanVersion } from "../catalog/Plan.ts"
import type { StoredEntry, StoredGrant } from "../credits/Credit.ts"
import type { StoredLedger } from "../credits/CreditStore.ts"
import type { CustomerId } from "../customers/Customer.ts"
import type { CreditNote } from "../invoices/CreditNote.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import type { NumberSeries, SeriesName } from "../invoices/InvoiceStore.ts"
import type { StoredPayment } from "../payments/Payment.ts"
import type { Tenant } from "../shared/Tenant.ts"
import type { StoredSubscription } from "../subscriptions/Subscription.ts"
import type { UsageRecord } from "../usage/UsageRecord.ts"

/** Most values of one kind in a snapshot, such as invoices or usage records. */
export const MAX_SNAPSHOT_VALUES = 100_000
/** Most coupons in a snapshot besides those that the customer has redeemed: the newest. */
export const MAX_SNAPSHOT_COUPONS = 1_000

/** A subscription, and its periods. */
interface SnapshotSubscription {
  readonly value: StoredSubscription
  readonly periods: ReadonlyArray<NonNullable<StoredSubscription["state"]["period"]>>
}

/** A plan, and all of its versions, oldest first. */
export interface SnapshotPlan {
  readonly plan: Plan
  readonly versions: ReadonlyArray<PlanVersion>
}

/** The credits of a unit. */
export interface SnapshotCredits extends Pick<StoredLedger, "account" | "holds" | "levels"> {
  readonly unit: string
  readonly grants: ReadonlyArray<StoredGrant>
  readonly entries: ReadonlyArray<StoredEntry>
}

/** Lists are oldest first. */
export interface CustomerSnapshot {
  readonly tenant: Tenant
  readonly customerId: CustomerId
  /** The time of the customer when it was read, in epoch milliseconds: that of its test clock, if it has one. */
  readonly at: number
  /** The values of resources, by the type of the resource. */
  readonly values: Readonly<Record<string, ReadonlyArray<{ readonly id: string }>>>
  readonly plans: ReadonlyArray<SnapshotPlan>
  readonly subscriptions: ReadonlyArray<SnapshotSubscription>
  readonly invoices: ReadonlyArray<StoredInvoice>
  readonly creditNotes: ReadonlyArray<CreditNote>
  readonly payments: ReadonlyArray<StoredPayment>
  /** The state of the series of numbers. One that has no number yet is left out. */
  readonly series: Readonly<Partial<Record<SeriesName, NumberSeries>>>
  readonly credits: ReadonlyArray<SnapshotCredits>
  /** Usage records, with those that were voided. */
  readonly records: ReadonlyArray<UsageRecord>
}

/** A customer has too much of something for a snapshot. */
export class SnapshotTooLarge extends Schema.TaggedError<SnapshotTooLarge>()(
  "SnapshotTooLarge",
  {
    /** What there is too much of, such as `usage records`. */
    of: Schema.String,
    most: Schema.Number,
  },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `the customer has more than ${this.most.toLocaleString("en-US")} ${this.of}, which is the most that a snapshot can have`
  }
}
