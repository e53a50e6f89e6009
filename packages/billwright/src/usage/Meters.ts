/**
 * Meters: how the usage of a product in a unit becomes a value.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/**
 * How records become a value.
 *
 * - `sum`: the sum of their quantities.
 * - `count`: how many there are.
 * - `max`: the largest quantity; 0 without records.
 * - `latest`: the quantity of the last one by its timestamp; 0 without records in the period.
 * - `unique_count`: how many different values the dimension `counted` has.
 * - `time_weighted`: each record is the new level of something. The value is the average level over the period.
 */
export type Aggregation = "sum" | "count" | "max" | "latest" | "unique_count" | "time_weighted"

/** Work on a meter that is not finished, or that failed. */
export interface MeterRebuild {
  readonly aggregation: Aggregation
  readonly dimensions: ReadonlyArray<string>
  readonly counted: string | null
  /** Which definition it is. It rises with every change. */
  readonly generation: number
  /**
   * - `building`: the definition is being built. Until it is whole, the old one answers.
   * - `removing`: what is no longer needed is being removed.
   * - `failed`: the definition can't be built; `problem` says why.
   */
  readonly status: "building" | "removing" | "failed"
  /** How many days of customers have been read. */
  readonly done: number
  /** How many days of customers there are to read. */
  readonly total: number
  readonly problem: string | null
}

/** How the usage of a product in a unit becomes a value, and by which dimensions it can be filtered and grouped. */
export interface Meter {
  /** `mtr_…` */
  readonly id: string
  /** The name of the meter in queries and plans. It never changes, and no other meter ever has it. */
  readonly key: string
  /** A name for people. */
  readonly name: string | null
  readonly productId: string
  readonly unit: string
  /** The aggregation that answers now. */
  readonly aggregation: Aggregation
  /** The declared dimensions, by which values can be filtered and grouped. */
  readonly dimensions: ReadonlyArray<string>
  /** With `unique_count`, the dimension whose different values are counted. */
  readonly counted: string | null
  /** `building` until it can be queried for the first time, then `ready`; `archived` at its end. */
  readonly status: "building" | "ready" | "archived"
  /** Which definition answers. It rises with every change. */
  readonly generation: number
  /** The definition that is being built, and how far it is. `null` when no work is left. */
  readonly rebuild: MeterRebuild | null
  readonly archivedAt: Date | null
  readonly createdAt: Date
  /** When its name or definition last changed. */
  readonly updatedAt: Date
}

/** A new meter. */
export interface CreateMeter {
  /** A lower-case letter, then up to 63 lower-case letters, digits or underscores. */
  readonly key: string
  /** 1 to 255 characters. */
  readonly name?: string | null | undefined
  readonly productId: string
  readonly unit: string
  /** Default `sum`. */
  readonly aggregation?: Aggregation | undefined
  /** At most 4 names of 1 to 40 characters, without a colon. Default: none. */
  readonly dimensions?: ReadonlyArray<string> | undefined
  /** Required with `unique_count`: one of `dimensions`. */
  readonly counted?: string | null | undefined
}

/** The fields to change. Fields left out stay as they are. A change of the definition replaces one that is being built. */
export interface UpdateMeter {
  readonly name?: string | null | undefined
  readonly aggregation?: Aggregation | undefined
  readonly dimensions?: ReadonlyArray<string> | undefined
  readonly counted?: string | null | undefined
}

/** Selects meters, newest first. */
export interface ListMeters extends PageQuery {
  readonly key?: string | undefined
  readonly productId?: string | undefined
  readonly unit?: string | undefined
  readonly status?: Meter["status"] | undefined
}

/** Options of `meters.rebuild`. */
export interface RebuildOptions extends CallOptions {
  /** Called with the meter after each batch. */
  readonly onProgress?: ((meter: Meter) => void) | undefined
}

/**
 * Errors: `InvalidInputError`, `MeterNotFoundError`, `LimitReachedError` (1,000 meters, archived ones included; 10 for a
 * product and unit that are not archived).
 */
export interface Meters {
  /**
   * Creates a meter. If its product and unit already have usage, it is built before it can be queried: a little by this
   * call, the rest in the background.
   */
  create(input: CreateMeter, options?: CallOptions): Promise<Meter>
  get(id: string, options?: CallOptions): Promise<Meter>
  /** Changes a meter. Until a new definition is built, the old one answers. */
  update(id: string, input: UpdateMeter, options?: CallOptions): Promise<Meter>
  /**
   * Ends a meter for good. It can no longer be queried. The records stay. `ActionUnavailableError` if a version of a plan names it:
   * subscriptions may be billed by it. Archiving it again changes nothing.
   */
  archive(id: string, options?: CallOptions): Promise<void>
  list(query?: ListMeters, options?: CallOptions): Listing<Meter>
  /**
   * Does the work that is left on a meter, to its end, and returns the meter. Other processes may work on it at the same
   * time. Not for use in a transaction.
   */
  rebuild(id: string, options?: RebuildOptions): Promise<Meter>
}
