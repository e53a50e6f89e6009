/**
 * A version of a plan, in the form that it has in files, in REST and in `preview`. Decimals are strings.
 */
import type { Charge, Prices } from "./Charge.ts"

/** How long a period is: `count` of a unit, such as 3 months. */
export interface Interval {
  readonly unit: "day" | "week" | "month" | "year"
  readonly count: number
}

/** What is included of a boolean kind: a customer has it or not. */
export interface BooleanFeature {
  readonly type: "boolean"
}

/** A setting of the plan that the host reads, such as the number of seats. */
export interface ConfigFeature {
  readonly type: "config"
  readonly value: string
}

/** What is left of a period goes on, up to `maximum` units and until it expires. */
export interface Rollover {
  readonly maximum: string
  readonly expires_after?: Interval
}

/**
 * So many units of a meter are included in each period. Beyond them a `hard` limit refuses; a `soft` one allows, and
 * the charges of the plan say what that costs.
 */
export interface MeteredFeature {
  readonly type: "metered"
  readonly meter: string
  readonly included: string
  readonly limit: "hard" | "soft"
  readonly rollover?: Rollover
}

export type Feature = BooleanFeature | ConfigFeature | MeteredFeature

/** Credits that each period brings. */
export interface Grant {
  /** A unit of the host's, such as `credits`, or a currency of the plan. */
  readonly unit: string
  readonly amount: string
  readonly rollover?: Rollover
}

/** How the plan is billed where there is a choice. */
export interface Policy {
  /** What a part of a period is measured in: local days (`day`, the default), milliseconds (`time`), or not at all. */
  readonly proration?: "day" | "time" | "none"
  /** Whether the tiers of a meter go on (`continue`, the default) or start again when the plan changes. */
  readonly usage_on_change?: "continue" | "restart"
  /** How long an invoice waits for late usage after its period. 1 by default where there is usage. */
  readonly grace_hours?: number
}

/** A version of a plan. What may change without a new version is the name and the description of the plan. */
export interface PlanVersion {
  /** Names the plan: lower-case letters, digits and underscores, a letter first, at most 64. */
  readonly key: string
  readonly name: string
  readonly description?: string
  /** Codes of ISO 4217. Every price of the plan is there in each of them. */
  readonly currencies: ReadonlyArray<string>
  readonly interval: Interval
  readonly trial?: { readonly days: number }
  readonly charges: ReadonlyArray<Charge>
  readonly features?: Readonly<Record<string, Feature>>
  readonly grants?: ReadonlyArray<Grant>
  /** The least that all usage charges of a full period cost together. What is missing is a line of its own. */
  readonly minimum?: Prices
  readonly policy?: Policy
}
