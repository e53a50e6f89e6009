/**
 * Reads everything in a memory storage, of all tenants, for tests and trials.
 */
import {
  type Aggregation,
  type ApiKey,
  type Credit,
  type CreditNote,
  Customer,
  type Delivery,
  type Endpoint,
  type Event,
  type Hold,
  type IdempotentRequest,
  type Invoice,
  keyIdOf,
  Meter,
  type Payment,
  type Plan,
  type Rollup,
  type StoredLedger,
  type StoredResponse,
  type Subscription,
  type Tenant,
  Threshold,
  UsagePeriod,
  type UsageRecord,
} from "@billwright/core"
import { Context, type DateTime, type Effect, Exit } from "effect"
import type { ApiKeyTable } from "./ApiKeyTable.ts"
import type { CreditNoteTable } from "./CreditNoteTable.ts"
import type { CreditTable } from "./CreditTable.ts"
import { copyOf as copyOfDelivery } from "./DeliveryRow.ts"
import type { DeliveryTable } from "./DeliveryTable.ts"
import { copyOf as copyOfEndpoint, type EndpointRow, type EndpointTable } from "./EndpointTable.ts"
import type { EventTable } from "./EventTable.ts"
import type { IdempotencyTable } from "./IdempotencyTable.ts"
import type { InvoiceTable } from "./InvoiceTable.ts"
import type { Journal } from "./Journal.ts"
import type { MemoryCollections } from "./MemoryCollections.ts"
import type { PaymentTable } from "./PaymentTable.ts"
import type { PlanTable } from "./PlanTable.ts"
import type { SubscriptionTable } from "./SubscriptionTable.ts"
import type { UsageTable } from "./UsageTable.ts"

/** The roll-up of one meter and one UTC day, `YYYY-MM-DD`. A day whose records are all voided has the total 0. */
export interface RollupRow {
  readonly tenant: Tenant.Tenant
  readonly customerId: Customer.CustomerId
  readonly productId: string
  readonly unit: string
  readonly day: string
  readonly quantity: bigint
  readonly recordCount: number
}

/** A cell of a meter's roll-up: one customer, UTC day (`YYYY-MM-DD`) and combination of dimensions. */
export interface CellRow {
  readonly tenant: Tenant.Tenant
  readonly rollup: Rollup.Rollup
  readonly customerId: Customer.CustomerId
  readonly day: string
  readonly combination: Rollup.Combination
  readonly state: Aggregation.State
}

/** An endpoint and its secrets. A secret is shown by the key that sealed it, without its value. */
export interface EndpointSnapshot {
  readonly tenant: Tenant.Tenant
  readonly id: Endpoint.EndpointId
  /** `null` when the endpoint was deleted. */
  readonly endpoint: Endpoint.Endpoint | null
  readonly secrets: ReadonlyArray<{
    readonly keyId: string
    readonly createdAt: DateTime.Utc
    readonly expiresAt: DateTime.Utc | null
  }>
}

/** A copy of everything that is stored. Later writes don't change it. The order of rows is not specified. */
export interface MemorySnapshot {
  /** `customer` is `null` when the customer was erased. */
  readonly customers: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly id: Customer.CustomerId
    readonly customer: Customer.Customer | null
  }>
  readonly records: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly record: UsageRecord.UsageRecord
  }>
  readonly rollups: ReadonlyArray<RollupRow>
  readonly meters: ReadonlyArray<{ readonly tenant: Tenant.Tenant; readonly meter: Meter.Meter }>
  /** The cells of all roll-ups of meters, also of those that are being built or removed. */
  readonly cells: ReadonlyArray<CellRow>
  readonly thresholds: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly threshold: Threshold.Threshold
  }>
  /** The firings of thresholds, with their periods. */
  readonly firings: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly thresholdId: Threshold.ThresholdId
    readonly periodKey: string
    readonly firedAt: DateTime.Utc
  }>
  /** Keys with the digests of their secrets. */
  readonly keys: ReadonlyArray<{ readonly key: ApiKey.ApiKey; readonly digest: string }>
  readonly plans: ReadonlyArray<{ readonly tenant: Tenant.Tenant; readonly plan: Plan.Plan }>
  readonly planVersions: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly version: Plan.PlanVersion
  }>
  readonly subscriptions: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly subscription: Subscription.StoredSubscription
  }>
  readonly invoices: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly invoice: Invoice.StoredInvoice
  }>
  readonly creditNotes: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly note: CreditNote.CreditNote
  }>
  readonly payments: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly payment: Payment.StoredPayment
  }>
  /** The credits of each tenant that has some. Of what was consumed, those with a key. */
  readonly credits: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly accounts: ReadonlyArray<Credit.AccountKey & StoredLedger["account"]>
    readonly grants: ReadonlyArray<Credit.StoredGrant>
    readonly holds: ReadonlyArray<Hold.StoredHold>
    readonly entries: ReadonlyArray<Credit.StoredEntry>
    readonly consumptions: ReadonlyArray<Credit.StoredConsumption>
  }>
  /** By tenant, in the order of commits. */
  readonly events: ReadonlyArray<{ readonly tenant: Tenant.Tenant; readonly event: Event.Event }>
  readonly endpoints: ReadonlyArray<EndpointSnapshot>
  readonly deliveries: ReadonlyArray<
    Delivery.DeliveryWithAttempts & {
      readonly tenant: Tenant.Tenant
      /** Whether a worker has claimed it and not yet written its result. `nextAttemptAt` is then the end of the lease. */
      readonly isLeased: boolean
    }
  >
  /** Stored answers. Expired ones are included until they are swept. */
  readonly idempotency: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly request: IdempotentRequest
    readonly response: StoredResponse
    readonly expiresAt: DateTime.Utc
  }>
}

/**
 * Gives snapshots of a memory storage.
 *
 * `snapshot` follows the same rules as every other verb. Outside a transaction it waits for the open transaction to end
 * and reads what is committed. Inside a transaction it also reads the transaction's own writes. It copies everything.
 */
export class MemoryInspector extends Context.Service<
  MemoryInspector,
  { readonly snapshot: Effect.Effect<MemorySnapshot> }
>()("@billwright/memory/MemoryInspector") {}

export const inspector = (
  tables: {
    readonly collections: MemoryCollections
    readonly usage: UsageTable
    readonly keys: ApiKeyTable
    readonly idempotency: IdempotencyTable
    readonly plans: PlanTable
    readonly subscriptions: SubscriptionTable
    readonly invoices: InvoiceTable
    readonly creditNotes: CreditNoteTable
    readonly credits: CreditTable
    readonly payments: PaymentTable
    readonly events: EventTable
    readonly endpoints: EndpointTable
    readonly deliveries: DeliveryTable
  },
  journal: Journal,
): MemoryInspector["Service"] => {
  const {
    collections,
    creditNotes,
    credits,
    deliveries,
    endpoints,
    events,
    idempotency,
    invoices,
    keys,
    payments,
    plans,
    subscriptions,
    usage,
  } = tables
  const customers = collections.tableOf<Customer.Customer>(Customer.customers)
  const meters = collections.tableOf<Meter.Meter>(Meter.meters)
  const thresholds = collections.tableOf<Threshold.Threshold>(Threshold.thresholds)

  const rollups = (): Array<RollupRow> =>
    Array.from(usage.meters()).flatMap(({ meter, tenant }) =>
      Array.from(meter.days(), ({ day, sum }) => ({
        tenant,
        customerId: meter.customerId,
        productId: meter.productId,
        unit: meter.unit,
        day: UsagePeriod.formatDay(day),
        quantity: sum.quantity,
        recordCount: sum.count,
      })),
    )

  const cells = (): Array<CellRow> =>
    Array.from(usage.meterRollups.rollups()).flatMap(({ cells: kept, tenant }) =>
      Array.from(kept.rows(), (row) => ({ tenant, rollup: kept.rollup, ...row })),
    )

  const snapshot = (): MemorySnapshot => ({
    customers: Array.from(customers.rows(), ({ id, tenant, value }) => ({
      tenant,
      id: id as Customer.CustomerId,
      customer: value ?? null,
    })),
    records: Array.from(usage.records()),
    rollups: rollups(),
    meters: Array.from(meters.rows(), ({ tenant, value }) => ({ tenant, meter: value! })),
    cells: cells(),
    thresholds: Array.from(thresholds.rows(), ({ tenant, value }) => ({ tenant, threshold: value! })),
    firings: Array.from(usage.firings.rows()),
    keys: Array.from(keys.rows()),
    idempotency: Array.from(idempotency.rows()),
    plans: Array.from(plans.plans()),
    planVersions: Array.from(plans.versions()),
    subscriptions: Array.from(subscriptions.rows(), ({ tenant, value }) => ({ tenant, subscription: value })),
    invoices: Array.from(invoices.rows(), ({ tenant, value }) => ({ tenant, invoice: value })),
    creditNotes: Array.from(creditNotes.rows()),
    payments: Array.from(payments.rows()),
    credits: Array.from(credits.rows()),
    events: Array.from(events.rows(), ({ event, tenant }) => ({ tenant, event: { ...event } })),
    endpoints: Array.from(endpoints.rows(), snapshotOfEndpoint),
    deliveries: Array.from(deliveries.rows(), ({ content, tenant }) => ({
      tenant,
      ...copyOfDelivery(content!),
      isLeased: content!.lease !== undefined,
    })),
  })

  return MemoryInspector.of({ snapshot: journal.verb(() => Exit.succeed(snapshot())) })
}

const snapshotOfEndpoint = ({ id, stored, tenant }: EndpointRow): EndpointSnapshot => ({
  tenant,
  id,
  endpoint: stored === undefined ? null : copyOfEndpoint(stored.endpoint),
  secrets: (stored?.secrets ?? []).map(({ createdAt, expiresAt, sealed }) => ({
    keyId: keyIdOf(sealed),
    createdAt,
    expiresAt,
  })),
})
