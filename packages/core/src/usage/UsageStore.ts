/**
 * The storage port for usage: records and totals. Its `append` also fires thresholds.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { ThresholdCrossing } from "./Threshold.ts"
import type { NewUsageRecord, UsageRecord, UsageRecordId } from "./UsageRecord.ts"

/** The outcome of one record of an append. Only `Recorded` changes the storage. */
export type AppendOutcome =
  | { readonly _tag: "Recorded"; readonly record: UsageRecord }
  /** The idempotency key exists with the same content. `record` is the first record, which may be voided. */
  | { readonly _tag: "Duplicate"; readonly record: UsageRecord }
  /** The idempotency key exists with other content. */
  | { readonly _tag: "KeyConflict"; readonly recordId: UsageRecordId }
  /** The customer is unknown or erased. */
  | { readonly _tag: "CustomerNotFound" }

export interface AppendResult {
  /** One for each record, in the order given. */
  readonly outcomes: ReadonlyArray<AppendOutcome>
  /** The thresholds that this append fired, with one entry for each period. */
  readonly crossings: ReadonlyArray<ThresholdCrossing>
}

/** Which totals to compute. */
export interface TotalsQuery {
  readonly customerId: CustomerId
  readonly productId: string | undefined
  readonly unit: string | undefined
  /**
   * The boundaries of consecutive half-open windows: n + 1 rising instants for n windows. The first and the last may be
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
  /** The first UTC day, in days since 1970-01-01. */
  readonly from: number
  /** The UTC day after the last one, in days since 1970-01-01. */
  readonly to: number
  /** Counting stops at `most` + 1. */
  readonly most: number
}

/** A total of one window and group. There is one for each window and group with a record that isn't voided. */
export interface UsageTotal {
  /** The index of the window's first boundary. */
  readonly window: number
  /** The product, when totals are by meter. */
  readonly productId: string | undefined
  readonly unit: string
  readonly quantity: bigint
  readonly recordCount: number
}

/** A roll-up that differs from the sum of its records. There is one only after a bug or when the storage is damaged. */
export interface UsageDiscrepancy {
  readonly customerId: CustomerId
  readonly productId: string
  readonly unit: string
  /** The UTC day, `YYYY-MM-DD`. */
  readonly day: string
  readonly recordsQuantity: bigint
  readonly recordsCount: number
  readonly rollupQuantity: bigint
  readonly rollupCount: number
}

/**
 * Every verb acts for the current tenant only and joins the current transaction, if there is one. Without a transaction,
 * each verb is atomic.
 */
export class UsageStore extends Context.Service<
  UsageStore,
  {
    /**
     * Appends up to `MAX_BATCH_RECORDS` records. Each record has its own outcome: one that is refused does not prevent
     * the others from being stored. In the same step it updates the totals and fires thresholds (`Threshold.crosses`,
     * after all records of the append). For each firing it publishes a `usage.threshold` event (`ThresholdEvent.make`),
     * as `EventStore.publish` does.
     *
     * Of concurrent appends with the same idempotency key exactly one stores a record, and the others find it. When a
     * key is repeated within one append, the first record with the key counts. A threshold fires for a period in exactly
     * one append. An append that commits after the insertion of a threshold (`Collections`) checks this threshold.
     *
     * When this returns, or the transaction that it joined commits, the records are durable, and every total read
     * afterwards contains them.
     */
    readonly append: (
      records: ReadonlyArray<NewUsageRecord>,
    ) => Effect.Effect<AppendResult, StorageError, CurrentTenant>

    readonly find: (
      id: UsageRecordId,
    ) => Effect.Effect<Option.Option<UsageRecord>, StorageError, CurrentTenant>

    /**
     * Voids a record: sets `voidedAt` and takes its quantity out of the totals, once. Of concurrent voids one makes the
     * change, and all give the same record.
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
     * Exact totals. Whole UTC days are read from a roll-up, and only parts of days from the records
     * (`UsagePeriod.split`). So the cost depends on the number of days, not on the number of all records.
     */
    readonly totals: (
      query: TotalsQuery,
    ) => Effect.Effect<ReadonlyArray<UsageTotal>, StorageError, CurrentTenant>

    /**
     * How many meters have usage on a range of UTC days, or `most` + 1 when there are more than `most`. Reads at most
     * `most` + 1 roll-ups for each day.
     */
    readonly countMeters: (query: MetersQuery) => Effect.Effect<number, StorageError, CurrentTenant>

    /** Up to `limit` different units that the customer has ever used. */
    readonly units: (
      customerId: CustomerId,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<string>, StorageError, CurrentTenant>

    /** Compares every roll-up of the tenant with its records. It reads all records, so use it for audits and tests. */
    readonly audit: Effect.Effect<ReadonlyArray<UsageDiscrepancy>, StorageError, CurrentTenant>
  }
>()("@billwright/core/usage/UsageStore") {}
