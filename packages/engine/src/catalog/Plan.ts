/**
 * A plan, in the form of files, REST and `preview`. Decimals are strings.
 */
import type { Charge, Prices } from "./Charge.ts"
import { without } from "./FieldRules.ts"

/** The length of a period: `count` units, such as 3 months. */
export interface Interval {
  readonly unit: "day" | "week" | "month" | "year"
  readonly count: number
}

/** A feature that a customer has or does not have. */
export interface BooleanFeature {
  readonly type: "boolean"
}

/** A setting of the plan that the host reads, such as the number of seats. */
export interface ConfigFeature {
  readonly type: "config"
  readonly value: string
}

/** Units left at the end of a period stay usable, at most `maximum` of them and until they expire. */
export interface Rollover {
  readonly maximum: string
  readonly expires_after?: Interval
}

/**
 * A number of units of a meter that each period includes. Further usage is refused with a `hard` limit. With a `soft`
 * limit it is allowed, and the charges of the plan price it.
 */
export interface MeteredFeature {
  readonly type: "metered"
  readonly meter: string
  readonly included: string
  readonly limit: "hard" | "soft"
  readonly rollover?: Rollover
}

export type Feature = BooleanFeature | ConfigFeature | MeteredFeature

/** Credits that the customer gets in each period. */
export interface Grant {
  /** A unit that the host defines, such as `credits`, or a currency of the plan. */
  readonly unit: string
  readonly amount: string
  readonly rollover?: Rollover
}

/** Options of how the plan is billed. */
export interface Policy {
  /**
   * How a part of a period is measured: in local days (`day`, the default), in milliseconds (`time`), or not (`none`). For all
   * parts of a period, the plan says it that was served first.
   */
  readonly proration?: "day" | "time" | "none"
  /** Whether the tiers of a meter continue (`continue`, the default) or start again (`restart`) when the plan changes. */
  readonly usage_on_change?: "continue" | "restart"
  /** How many hours an invoice waits for late usage after its period. Default 1 for plans with usage. */
  readonly grace_hours?: number
  /**
   * How many days of 24 hours the features stay while the payment of an invoice of the subscription is late. Default: until
   * the subscription is paused or ends.
   */
  readonly past_due_grace_days?: number
}

/** What a version of a plan fixes for good. */
export interface PlanTerms {
  /** ISO 4217 codes. Every price of the plan is given in each of them. */
  readonly currencies: ReadonlyArray<string>
  readonly interval: Interval
  readonly trial?: { readonly days: number }
  readonly charges: ReadonlyArray<Charge>
  readonly features?: Readonly<Record<string, Feature>>
  readonly grants?: ReadonlyArray<Grant>
  /**
   * The lowest cost of all usage charges together in a full period. The missing amount gets a line on the invoice. Usage that
   * burns credits is no part of it.
   */
  readonly minimum?: Prices
  readonly policy?: Policy
}

/** What names a plan to people. It can change without a new version. */
export interface PlanNames {
  /** 1 to 200 characters. */
  readonly name: string
  /** 1 to 1,000 characters. */
  readonly description?: string
}

/** A plan with the terms of one version. */
export interface PlanDefinition extends PlanNames, PlanTerms {
  /** Identifies the plan: a lower-case letter, then lower-case letters, digits or underscores. At most 64 characters. */
  readonly key: string
}

/** The terms of a plan: all of it but its key, name and description. */
export const termsOf = (plan: PlanDefinition): PlanTerms => without(plan, "key", "name", "description")
