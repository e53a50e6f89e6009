/**
 * What the lines of a period are computed from.
 */
import type { DecimalsOf } from "../rating/Units.ts"
import type { Documented } from "./PeriodLine.ts"
import type { TermsOf } from "./Runs.ts"
import type { Period } from "./Subscription.ts"
import type { UsageTotal } from "./Usage.ts"

/** What to bill. */
export interface PeriodInput {
  readonly period: Period
  /** The time zone of the subscription, in which days begin. */
  readonly timezone: string
  /** The ISO 4217 code of the currency. */
  readonly currency: string
  readonly termsOf: TermsOf
  /** The decimals of the units that charges burn. Default: none. */
  readonly decimalsOf?: DecimalsOf | undefined
  /** Usage, and fees in arrears, are billed for the parts of the period that are over at this instant. */
  readonly until: number
  /**
   * Whether the usage of all of the period is billed, also of parts that are not over: what it costs by now. Fees are neither
   * billed nor credited then.
   */
  readonly soFar?: boolean
  /**
   * Whether usage that is billed already has a line of 0, too: for the invoice that waits for late usage of a part that an
   * invoice of the usage so far has billed.
   */
  readonly isRestated?: boolean
  /** The answers to the queries of `usageQueries`. */
  readonly totals: ReadonlyArray<UsageTotal>
  /** Everything that earlier documents billed of this period, in their order. */
  readonly documented: ReadonlyArray<Documented>
}
