/**
 * Where usage is kept: the storage port of records, totals and firings of thresholds.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { ThresholdCrossing } from "./Threshold.ts"
import type { NewUsageRecord, UsageRecord, UsageRecordId } from "./UsageRecord.ts"

/** What became of one record of an append. All but `Recorded` leave the storage as it was. */
export type AppendOutcome =
  | { readonly _tag: "Recorded"; readonly record: UsageRecord }
  /** The idempotency key exists with the same content; `record` is the first one, voided or not. */
  | { readonly _tag: "Duplicate"; readonly record: UsageRecord }
  /** The idempotency key exists with other content. */
  | { readonly _tag: "KeyConflict"; readonly recordId: UsageRecordId }
  /** The customer is unknown or erased. */
  | { readonly _tag: "CustomerNotFound" }

export interface AppendResult {
  /** One for each record, in the order given. */
  readonly outcomes: ReadonlyArray<AppendOutcome>
  /** The thresholds that this append fired, each once for a period. */
  readonly crossings: ReadonlyArray<ThresholdCrossing>
}

/** Which totals to compute. */
export interface TotalsQuery {
  readonly customerId: CustomerId
  readonly productId: string | undefined
  readonly unit: string | undefined
  /**
   * Rising instants that bound consecutive half-open windows: n + 1 for n. The first and the last may be
   * `undefined`, which leaves that side open.
   */
  readonly boundaries: ReadonlyArray<number | undefined>
  /** Totals by unit, or by meter (product and unit). */
  readonly by: "unit" | "meter"
}

/** Which meters to count. */
export interface MetersQuery {
  readonly customerId: CustomerId
  readonly productId: string | undefined
  readonly unit: string | undefined
  /** UTC days since 1970-01-01: from this one … */
  readonly from: number
  /** … to the one before this. */
  readonly to: number
  /** Counting ends at one more than so many. */
  readonly most: number
}

/** A total of one window. Only windows and groups with at least one record that isn't voided are given. */
export interface UsageTotal {
  /** Which window: the index of its first boundary. */
  readonly window: number
  /** The product, when totals are by meter. */
  readonly productId: string | undefined
  readonly unit: string
  readonly quantity: bigint
  readonly recordCount: number
}

/** A roll-up that doesn't equal its records. There must be none; the auditor looks for them. */
export interface UsageDiscrepancy {
  readonly customerId: CustomerId
  readonly productId: string
  readonly unit: string
  /** UTC day, `YYYY-MM-DD`. */
  readonly day: string
  readonly recordsQuantity: bigint
  readonly recordsCount: number
  readonly rollupQuantity: bigint
  readonly rollupCount: number
}

/**
 * Every verb acts for the current tenant alone and joins the current transaction, if there is one; on its own,
 * each is atomic.
 */
export class UsageStore extends Context.Service<
  UsageStore,
  {
    /**
     * Appends records, up to `MAX_BATCH_RECORDS`, each with a result of its own: what can't be stored doesn't
     * keep the others from it. In one step with the records it keeps the totals and fires thresholds
     * (`Threshold.crosses`, after all records of the append), and publishes a `usage.threshold` event for each
     * firing (`ThresholdEvent.make`), as `EventStore.publish` does.
     *
     * Concurrency: of appends with the same idempotency key exactly one stores a record, the others see it; a
     * key repeated within one append counts as used by the first. A threshold fires for a period in exactly
     * one append. An append that commits after a threshold's insertion (`Collections`) looks at it. When this returns (or the transaction that it joined commits), the records are durable and
     * every total read afterwards has them.
     */
    readonly append: (
      records: ReadonlyArray<NewUsageRecord>,
    ) => Effect.Effect<AppendResult, StorageError, CurrentTenant>

    readonly find: (
      id: UsageRecordId,
    ) => Effect.Effect<Option.Option<UsageRecord>, StorageError, CurrentTenant>

    /**
     * Voids a record: sets `voidedAt` and takes its quantity out of the totals, once. Of concurrent voids one
     * does it, all give the same record.
     */
    readonly void: (
      id: UsageRecordId,
      at: DateTime.Utc,
    ) => Effect.Effect<Option.Option<UsageRecord>, StorageError, CurrentTenant>

    /** A customer's records, newest first. */
    readonly list: (
      filter: {
        readonly customerId: CustomerId
        readonly productId: string | undefined
        readonly unit: string | undefined
      },
      page: PageQuery,
    ) => Effect.Effect<Page<UsageRecord>, CursorNotFound | StorageError, CurrentTenant>

    /**
     * Exact totals. Costs days and the records of part days, not all records: whole UTC days come from a
     * roll-up (`UsagePeriod.split`).
     */
    readonly totals: (
      query: TotalsQuery,
    ) => Effect.Effect<ReadonlyArray<UsageTotal>, StorageError, CurrentTenant>

    /**
     * How many meters have usage on some UTC days, or `most` + 1 when there are more. Reads no more roll-ups than that
     * takes: as many meters have at most one for each day.
     */
    readonly countMeters: (query: MetersQuery) => Effect.Effect<number, StorageError, CurrentTenant>

    /** Up to `limit` different units that the customer has ever used. */
    readonly units: (
      customerId: CustomerId,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<string>, StorageError, CurrentTenant>

    /** Compares every roll-up of the tenant with its records. Reads everything: for audits and tests. */
    readonly audit: Effect.Effect<ReadonlyArray<UsageDiscrepancy>, StorageError, CurrentTenant>
  }
>()("@billwright/core/usage/UsageStore") {}
