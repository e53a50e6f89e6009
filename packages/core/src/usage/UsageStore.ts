/**
 * The storage port for usage: records and totals. Its `append` also fires thresholds.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant, Tenant } from "../shared/Tenant.ts"
import type { MeterId } from "./Meter.ts"
import type { Combination, Progress, Rollup, Where } from "./Rollup.ts"
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
  /**
   * The record would be the first of a combination, and the meter already has `Rollup.MAX_COMBINATIONS` combinations for
   * the customer and day. A record that several roll-ups refuse is refused by the first one: meters by their keys, and of
   * a meter the lower generation.
   */
  | {
      readonly _tag: "TooManyCombinations"
      readonly meterKey: string
      /** The UTC day, `YYYY-MM-DD`. */
      readonly day: string
      /** The declared dimension with the most different values on that day (`Rollup.widest`). */
      readonly dimension: string
    }

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

/** Which values of a meter to compute. */
export interface RollupQuery {
  readonly customerId: CustomerId
  readonly meterId: MeterId
  /** The generation that the caller expects to answer. Its cells are read: `Rollup.needsCells`. */
  readonly generation: number
  /** As in `TotalsQuery`. With `time_weighted`, all are instants. */
  readonly boundaries: ReadonlyArray<number | undefined>
  /** Only records that match. Its dimensions are declared by the meter. */
  readonly where: Where
  /** Declared dimensions, each at most once. */
  readonly groupBy: ReadonlyArray<string>
  /** The most different groups over all windows. */
  readonly most: number
}

/**
 * The value of one window and group. There is one for each window and group with a record that isn't voided, and with
 * `time_weighted` also for those with a quantity other than 0.
 */
export interface RollupTotal {
  /** The index of the window's first boundary. */
  readonly window: number
  /** The values of the dimensions of `groupBy`, in its order. */
  readonly group: Combination
  /** As in `Aggregation.Total`. */
  readonly quantity: bigint
  readonly recordCount: number
}

export type RollupAnswer =
  | {
      readonly _tag: "Totals"
      readonly totals: ReadonlyArray<RollupTotal>
      /** The same of all groups together, from the same state of the storage. `group` is empty. */
      readonly whole: ReadonlyArray<RollupTotal>
    }
  /** There are more than `most` groups. */
  | { readonly _tag: "TooManyGroups" }
  /** Another generation answers now, or the meter is archived. */
  | { readonly _tag: "Gone" }

/** A meter whose roll-ups need work, and whose it is. */
export interface UnfinishedMeter {
  readonly tenant: Tenant
  readonly meterId: MeterId
}

/**
 * A roll-up that differs from its records. There is one only after a bug or when the storage is damaged. Quantities are
 * those of `Aggregation.State` when it is the roll-up of a meter.
 */
export interface UsageDiscrepancy {
  readonly customerId: CustomerId
  /** The key of the meter. `null` for the total of product and unit. */
  readonly meterKey: string | null
  /** The values of the meter's dimensions. `null` for the total of product and unit. */
  readonly combination: Combination | null
  readonly productId: string
  readonly unit: string
  /** The UTC day, `YYYY-MM-DD`. */
  readonly day: string
  readonly recordsQuantity: bigint
  readonly recordsCount: number
  readonly rollupQuantity: bigint
  readonly rollupCount: number
}

/** The records that count in a period: those with a timestamp in it that are not voided. */
export interface CountedIn {
  /** In epoch milliseconds. The end is not part of the period. */
  readonly start: number
  readonly end: number
  /** Only records without this dimension. Default: all. */
  readonly lacking?: string
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
     * after all records of the append). It updates the cells of meters (`Rollup.served`). For each firing it publishes a `usage.threshold` event (`ThresholdEvent.make`),
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
     * Voids a record: sets `voidedAt` and takes it out of the totals and of the cells of meters, once. Of concurrent voids one makes the
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
        /** Only records with these dimensions. Default: all. */
        readonly where?: Where
        /** Only records that count in a period. Default: all. */
        readonly counted?: CountedIn
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

    /**
     * Exact values of a meter, from the cells of whole UTC days and from the records of parts of days. So the cost does
     * not depend on the number of all records. The answer is of one generation only.
     */
    readonly rollup: (query: RollupQuery) => Effect.Effect<RollupAnswer, StorageError, CurrentTenant>

    /**
     * Builds the cells of a roll-up for up to `days` more days of customers, and says how far it is. The caller has
     * stored the meter with this roll-up (`Rollup.building`), calls this within a transaction that has locked the meter
     * (`Collection.modify`), and repeats it until it is `Built` or has failed. It can be called again at any time, by
     * any process.
     *
     * A day with fewer records than its total counts can't be built: `RecordsRemoved`. A storage whose records nobody can
     * remove has no such day.
     *
     * Appends and voids meanwhile are served: when it is `Built`, the cells equal the records. Appends of a customer may
     * wait while a batch of this customer's days is built.
     */
    readonly build: (
      rollup: Rollup,
      batch: { readonly days: number },
    ) => Effect.Effect<Progress, StorageError, CurrentTenant>

    /**
     * Removes up to `cells` cells of a meter, of generations other than the kept ones. Returns true when none is left.
     * Call it as `build`.
     */
    readonly sweep: (
      meterId: MeterId,
      kept: ReadonlyArray<number>,
      batch: { readonly cells: number },
    ) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /**
     * Meters with work to do (`Rollup.isUnfinished`) of all tenants: at most one of each tenant, and at most `limit`. They
     * come in an order of tenants that does not change, and begin after the given tenant.
     */
    readonly unfinished: (
      after: Tenant | undefined,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<UnfinishedMeter>, StorageError>

    /**
     * Compares every roll-up of the tenant with its records, also the cells of meters. A roll-up that is being built has
     * not all cells yet, and is left out. It reads all records, so use it for audits and tests.
     */
    readonly audit: Effect.Effect<ReadonlyArray<UsageDiscrepancy>, StorageError, CurrentTenant>
  }
>()("@billwright/core/usage/UsageStore") {}
