/**
 * Plans: what you sell, in versions that never change.
 */
import type {
  ChargeKeyOf,
  DefinedPlan,
  FieldChange,
  PlanDefinition,
  PlanTerms,
  PreviewLine,
  Quantity,
} from "@billwright/engine"
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

export type {
  BooleanFeature,
  ChargeKeyOf,
  ConfigFeature,
  DefinedPlan,
  Feature,
  FeatureKeyOf,
  FieldChange,
  Grant,
  Interval,
  MeteredFeature,
  PlanDefinition,
  PlanInput,
  PlanTerms,
  Policy,
  PreviewLine,
  Rollover,
} from "@billwright/engine"

/** A plan, with the terms of its newest version. Names in `terms` are those of files and of REST: `up_to`. */
export interface Plan {
  /** `pln_…` */
  readonly id: string
  /** Names the plan in code. It never changes. */
  readonly key: string
  readonly name: string
  readonly description: string | null
  /** The number of the newest version, from 1. */
  readonly version: number
  /** The id of the newest version: `plv_…` */
  readonly versionId: string
  /** The SHA-256 hash of the terms in canonical JSON (RFC 8785). Equal terms have equal hashes. */
  readonly hash: string
  readonly terms: PlanTerms
  readonly createdAt: Date
  /** When its name, its description or its newest version last changed. */
  readonly updatedAt: Date
}

/** A published version of a plan. It never changes. */
export interface PlanVersion {
  /** `plv_…` */
  readonly id: string
  readonly planKey: string
  readonly version: number
  readonly hash: string
  readonly terms: PlanTerms
  readonly createdAt: Date
}

/** What a push does, or would do, to one plan. */
export interface PlanChange {
  readonly key: string
  /** `changed`: the name, the description or the terms are new. Only new terms make a version. */
  readonly status: "created" | "changed" | "unchanged"
  /** The number of the newest version afterwards. */
  readonly version: number
  /** The number of the newest version before. `null` for a plan that is created. */
  readonly previousVersion: number | null
  /** The fields that differ from the stored plan. */
  readonly changes: ReadonlyArray<FieldChange>
}

/** What to preview. With a plan of `definePlan`, a misspelt key of a charge does not compile. */
export interface PreviewPlan<P extends string | PlanDefinition = string | PlanDefinition> {
  /** The key of a stored plan, or a plan, which need not be stored. */
  readonly plan: P
  /** A version of the stored plan. Default: the newest. */
  readonly version?: number | undefined
  /** A currency of the plan. Default: its only currency. */
  readonly currency?: string | undefined
  /**
   * The quantity of a full period by the key of the charge. Charges that are left out have 0, and flat fees take none.
   * A charge that prices each record takes the quantity as one record.
   */
  readonly quantities?: { readonly [Key in ChargeKeyOf<P>]?: Quantity } | undefined
}

/** What a plan costs for a full period. */
export interface PlanPreview {
  /** The key of the plan. */
  readonly plan: string
  /** The version that was rated. `null` for a plan that was given. */
  readonly version: number | null
  readonly currency: string
  /** A line for each charge, in the order of the plan, and one for the plan's minimum if usage is below it. */
  readonly lines: ReadonlyArray<PreviewLine>
  /** The sum of the lines, in the minor unit of the currency: 4200n is 42.00 EUR. */
  readonly total: bigint
}

/** What a change of plans is compared over. */
export interface ComparePlans {
  /** Periods that ended in so many months before now are rated: 1 to 36. Default 3. */
  readonly months?: number | undefined
  /** Is called while it compares. */
  readonly onProgress?: ((soFar: CostProgress) => void) | undefined
}

/** How far a comparison is. */
export interface CostProgress {
  readonly subscriptions: number
  readonly customers: number
}

/** What a customer paid, and would pay. Amounts are integers of the minor unit. */
export interface CustomerCost {
  readonly customerId: string
  readonly before: bigint
  readonly after: bigint
}

/** What a change of plans means in a currency. */
export interface CurrencyCosts {
  readonly currency: string
  readonly before: bigint
  readonly after: bigint
  /** How many customers are rated, and for how many of them the cost stays, rises and falls. */
  readonly customers: number
  readonly unchanged: number
  readonly rises: number
  readonly falls: number
  /** The ten largest rises, the largest first. */
  readonly largestRises: ReadonlyArray<CustomerCost>
}

/** A subscription that can't be rated by the new terms. */
export interface UnratedSubscription {
  readonly subscriptionId: string
  readonly customerId: string
  readonly problem: string
}

/** What a change of plans means in money. */
export interface PlanComparison {
  /** Periods that ended after `from`, and not after `to`, are rated. */
  readonly from: Date
  readonly to: Date
  /** The keys of the plans whose terms change. Only their subscriptions are rated. */
  readonly plans: ReadonlyArray<string>
  /** `false`: there are more than a million customers, and the others are not rated. */
  readonly isComplete: boolean
  readonly subscriptions: number
  readonly periods: number
  /** By currency, in their order. */
  readonly currencies: ReadonlyArray<CurrencyCosts>
  /** How many subscriptions could not be rated by the new terms. They are in no sum. */
  readonly unrated: number
  /** The first ten of these. */
  readonly problems: ReadonlyArray<UnratedSubscription>
}

/**
 * Errors: `InvalidInputError`, whose `problems` lists everything that is wrong with all plans, and `PlanNotFoundError`.
 */
export interface Plans {
  /**
   * Stores 1 to 50 plans: all of them, or none if one is wrong. A plan with new terms gets the next version. A new name
   * or description changes the plan without a version. An equal plan changes nothing, and plans that are left out stay
   * as they are. Concurrent pushes wait for each other, so the numbers of versions have no gaps.
   */
  push(
    plans: PlanDefinition | ReadonlyArray<PlanDefinition>,
    options?: CallOptions,
  ): Promise<ReadonlyArray<PlanChange>>
  /** Says what `push` would do. Writes nothing. */
  diff(
    plans: PlanDefinition | ReadonlyArray<PlanDefinition>,
    options?: CallOptions,
  ): Promise<ReadonlyArray<PlanChange>>
  /**
   * Says what `push` would mean in money, if all subscriptions moved to the new versions: the real usage of the last months,
   * rated as it was and by the new terms. Amounts are before coupons, credits and taxes. Reads as of one instant, and writes
   * nothing.
   */
  compare(
    plans: PlanDefinition | ReadonlyArray<PlanDefinition>,
    input?: ComparePlans,
    options?: CallOptions,
  ): Promise<PlanComparison>
  /** A plan by its key. */
  get(key: string, options?: CallOptions): Promise<Plan>
  list(query?: PageQuery, options?: CallOptions): Listing<Plan>
  /** A version of a plan by its number. */
  getVersion(key: string, version: number, options?: CallOptions): Promise<PlanVersion>
  /** The versions of a plan, newest first. */
  listVersions(key: string, query?: PageQuery, options?: CallOptions): Listing<PlanVersion>
  /** Computes what a plan costs, as an invoice would, with every step of the computation. Writes nothing. */
  preview<const P extends string | DefinedPlan | PlanDefinition>(
    input: PreviewPlan<P>,
    options?: CallOptions,
  ): Promise<PlanPreview>
}
