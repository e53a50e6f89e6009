/**
 * Looks at everything that a memory storage holds, of all tenants, for tests and trials.
 */
import {
  type ApiKey,
  type Customer,
  type IdempotentRequest,
  type StoredResponse,
  type Tenant,
  type Threshold,
  UsagePeriod,
  type UsageRecord,
} from "@billwright/core"
import { Context, DateTime, type Effect, Exit } from "effect"
import type { ApiKeyTable } from "./ApiKeyTable.ts"
import type { CustomerTable } from "./CustomerTable.ts"
import type { IdempotencyTable } from "./IdempotencyTable.ts"
import type { Journal } from "./Journal.ts"
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
    readonly customers: CustomerTable
    readonly usage: UsageTable
    readonly keys: ApiKeyTable
    readonly idempotency: IdempotencyTable
  },
  journal: Journal,
): MemoryInspector["Service"] => {
  const { customers, idempotency, keys, usage } = tables
  const thresholds = usage.thresholds

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
    thresholds: Array.from(thresholds.rows(), ({ row, tenant }) => ({
      tenant,
      threshold: { ...row.threshold },
    })),
    firings: Array.from(thresholds.rows()).flatMap(({ row, tenant }) =>
      Array.from(row.firings, ([periodKey, firedAt]) => ({
        tenant,
        thresholdId: row.id,
        periodKey,
        firedAt,
      })),
    ),
    keys: Array.from(keys.rows()),
    idempotency: Array.from(idempotency.rows()),
  })

  return MemoryInspector.of({ snapshot: journal.verb(() => Exit.succeed(snapshot())) })
}
