/**
 * Looks at everything that a memory storage holds, of all tenants, for tests and trials.
 */
import {
  type ApiKey,
  type Customer,
  type Delivery,
  type Endpoint,
  type Event,
  type IdempotentRequest,
  keyIdOf,
  type StoredResponse,
  type Tenant,
  Threshold,
  UsagePeriod,
  type UsageRecord,
} from "@billwright/core"
import { Context, DateTime, type Effect, Exit } from "effect"
import type { ApiKeyTable } from "./ApiKeyTable.ts"
import type { CustomerTable } from "./CustomerTable.ts"
import { copyOf as copyOfDelivery } from "./DeliveryRow.ts"
import type { DeliveryTable } from "./DeliveryTable.ts"
import { copyOf as copyOfEndpoint, type EndpointRow, type EndpointTable } from "./EndpointTable.ts"
import type { EventTable } from "./EventTable.ts"
import type { IdempotencyTable } from "./IdempotencyTable.ts"
import type { Journal } from "./Journal.ts"
import type { MemoryCollections } from "./MemoryCollections.ts"
import type { UsageTable } from "./UsageTable.ts"

/** The roll-up of one meter and one UTC day, `YYYY-MM-DD`. Days whose records are all voided stay, with 0. */
export interface RollupRow {
  readonly tenant: Tenant.Tenant
  readonly customerId: Customer.CustomerId
  readonly productId: string
  readonly unit: string
  readonly day: string
  readonly quantity: bigint
  readonly recordCount: number
}

/** An endpoint and the secrets that sign for it: which key sealed them, and never what they are. */
export interface EndpointSnapshot {
  readonly tenant: Tenant.Tenant
  readonly id: Endpoint.EndpointId
  /** `null` when it was deleted. */
  readonly endpoint: Endpoint.Endpoint | null
  readonly secrets: ReadonlyArray<{
    readonly keyId: string
    readonly createdAt: DateTime.Utc
    readonly expiresAt: DateTime.Utc | null
  }>
}

/** A copy of all that is stored: nothing that happens later changes it. The order of rows is not specified. */
export interface MemorySnapshot {
  /** `customer` is `null` when it was erased. */
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
  readonly thresholds: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly threshold: Threshold.Threshold
  }>
  /** Which thresholds fired for which of their periods. */
  readonly firings: ReadonlyArray<{
    readonly tenant: Tenant.Tenant
    readonly thresholdId: Threshold.ThresholdId
    readonly periodKey: string
    readonly firedAt: DateTime.Utc
  }>
  /** The digests of secrets, never secrets. */
  readonly keys: ReadonlyArray<{ readonly key: ApiKey.ApiKey; readonly digest: string }>
  /** In the order of their commits, by tenant. */
  readonly events: ReadonlyArray<{ readonly tenant: Tenant.Tenant; readonly event: Event.Event }>
  readonly endpoints: ReadonlyArray<EndpointSnapshot>
  readonly deliveries: ReadonlyArray<
    Delivery.DeliveryWithAttempts & {
      readonly tenant: Tenant.Tenant
      /** Whether a worker has it, or had it and was never heard of again. `nextAttemptAt` is when its lease ends. */
      readonly isLeased: boolean
    }
  >
  /** Expired rows are there until they are swept. */
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
 * `snapshot` follows the rules of every other verb: outside of a transaction it waits for the open one to end
 * and sees what is committed; inside it sees the transaction's own writes. It copies everything.
 */
export class MemoryInspector extends Context.Service<
  MemoryInspector,
  { readonly snapshot: Effect.Effect<MemorySnapshot> }
>()("@billwright/memory/MemoryInspector") {}

export const inspector = (
  tables: {
    readonly collections: MemoryCollections
    readonly customers: CustomerTable
    readonly usage: UsageTable
    readonly keys: ApiKeyTable
    readonly idempotency: IdempotencyTable
    readonly events: EventTable
    readonly endpoints: EndpointTable
    readonly deliveries: DeliveryTable
  },
  journal: Journal,
): MemoryInspector["Service"] => {
  const { collections, customers, deliveries, endpoints, events, idempotency, keys, usage } = tables
  const thresholds = collections.tableOf<Threshold.Threshold>(Threshold.thresholds)

  const rollups = (): Array<RollupRow> =>
    Array.from(usage.meters()).flatMap(({ meter, tenant }) =>
      Array.from(meter.days(), ({ day, sum }) => ({
        tenant,
        customerId: meter.customerId,
        productId: meter.productId,
        unit: meter.unit,
        day: DateTime.formatIsoDateUtc(DateTime.makeUnsafe(day * UsagePeriod.UTC_DAY_MILLIS)),
        quantity: sum.quantity,
        recordCount: sum.count,
      })),
    )

  const snapshot = (): MemorySnapshot => ({
    customers: Array.from(customers.rows(), (row) => ({ ...row, customer: row.customer ?? null })),
    records: Array.from(usage.records()),
    rollups: rollups(),
    thresholds: Array.from(thresholds.values(), ({ tenant, value }) => ({ tenant, threshold: value })),
    firings: Array.from(usage.firings.rows()),
    keys: Array.from(keys.rows()),
    idempotency: Array.from(idempotency.rows()),
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
