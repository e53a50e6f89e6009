/**
 * A line of a period, and what documents keep of it.
 */
import type { Burnt, LineKind, LineRef, Receipt } from "../invoices/Line.ts"
import type { Step } from "../rating/Step.ts"
import type { PlanVersionRef } from "./Subscription.ts"

/** What a line of a period bills. A fee that is billed after its period counts as `usage`. */
export type PeriodLineKind = Exclude<LineKind, "item">

/** A line of a period. */
export interface PeriodLine {
  readonly kind: PeriodLineKind
  readonly plan: PlanVersionRef
  /** With `charge` and `group`, says what the line is of. */
  readonly segment: number
  readonly charge: string | null
  readonly group: string | null
  /** The name of the charge, or else its key. */
  readonly description: string
  /** The service period, in epoch milliseconds, half open. */
  readonly periodStart: number
  readonly periodEnd: number
  /** The quantity as an exact text. `null` for a flat fee and for a minimum. */
  readonly quantity: string | null
  /** In the minor unit, before discounts. A credit is below 0 and net: without the discounts of what it gives back. */
  readonly amount: bigint
  /**
   * The amount of a credit with discounts, and of those after it for the same charge: they have 0. Of all other lines,
   * `amount`. Documents of the period keep it.
   */
  readonly gross: bigint
  /** The computation of `amount`. */
  readonly steps: ReadonlyArray<Step>
  /** The line that a credit gives money back of. `null` for all other lines. */
  readonly creditOf: LineRef | null
  /** The usage behind it. `null` for fees and minima. */
  readonly receipt: Receipt | null
  /** The credits that it burns instead of costing money. `null` for all other lines. */
  readonly burns: Burnt | null
}

/** What a line is of, without its amount. */
export type LineSubject = Omit<PeriodLine, "kind" | "amount" | "gross" | "steps" | "creditOf" | "burns">

/** What a line of an earlier document billed of the period. Of a line that burns credits, amounts are those of its credits. */
export interface Documented extends LineRef {
  readonly kind: PeriodLineKind
  readonly segment: number
  /** The key of the charge. `null`: the minimum of the plan. */
  readonly charge: string | null
  readonly group: string | null
  /** The quantity that was billed. `null` if the line has none, or if it bills nothing of what it names. */
  readonly quantity: string | null
  /** The amount of the line, before discounts. For a credit, the `gross` of its line. */
  readonly gross: bigint
  /** The amount after discounts. */
  readonly net: bigint
  /** For a credit: the line that it gives money back of. */
  readonly creditOf: LineRef | null
  /** What credit notes gave back of the line for other reasons. It is not billed again. */
  readonly forgiven: bigint
}
