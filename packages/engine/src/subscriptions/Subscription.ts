/**
 * A subscription: which version of a plan a customer has, since when, until when, and the period that is open.
 *
 * All instants are in epoch milliseconds. The value is plain data: it can be stored as JSON. Only `step` of the machine
 * makes a new one.
 */
import type { Interval } from "../catalog/Plan.ts"
import type { Periods, Span } from "./Periods.ts"

/** Where a subscription is in its life. How its invoices fare is not part of it. */
export type Phase = "scheduled" | "trialing" | "active" | "paused" | "ended"

/** A version of a plan. Its terms never change. */
export interface PlanVersionRef {
  readonly key: string
  readonly version: number
}

/** Whether the unused part of what was charged in advance is credited (`prorate`) or kept (`none`). */
export type CreditPolicy = "prorate" | "none"

/** The quantities of a subscription, such as `{ seats: "5" }`: decimals ≥ 0 in strings. */
export type Quantities = Readonly<Record<string, string>>

/** A part of a period in which plan and quantities stayed the same. */
export interface Segment extends Span {
  /** `null` while the subscription was paused. */
  readonly plan: PlanVersionRef | null
  readonly quantities: Quantities
  /**
   * To which local midnight the end is rounded where the plan measures in days. A change rounds down, because the new
   * plan owns the day. A cancellation and a pause round up, because the day was served.
   */
  readonly snap: "down" | "up"
  /** What happens to the charge for time after `end`, if the segment ended before its period. */
  readonly unused: CreditPolicy
}

/** How usage of a trial is billed: rated and given free (`free`), or charged (`charged`). */
export type TrialUsage = "free" | "charged"

/** A period of a subscription. `start` and `end` are those of the full period: it may be served only in part. */
export interface Period extends Span {
  /** 0, 1, 2, … in the order in which the subscription opened its periods. The trial is one of them. */
  readonly number: number
  /** `null` unless the period is a trial. */
  readonly trial: TrialUsage | null
  readonly segments: Segments
}

/** The segments of a period, in order and without gaps, from the first instant that was served. */
export type Segments = readonly [Segment, ...ReadonlyArray<Segment>]

/** A change of plan or quantities. */
export interface PlanChange {
  /** `null` keeps the plan. */
  readonly plan: PlanVersionRef | null
  /** The interval of `plan`. */
  readonly interval: Interval | null
  /** The quantities that change. */
  readonly quantities: Quantities
  /** Whether the change is billed at once, or by the next invoice of a period. */
  readonly bill: BillChange
}

/** A change that waits: for an instant, or for the end of the period. */
export interface PendingChange extends PlanChange {
  readonly at: number | "period_end"
}

/** When a change within a period is billed: by an invoice of its own, or by that of the next period. */
export type BillChange = "now" | "next_invoice"

/** How a paused subscription resumes: with its old boundaries, or with an anchor at the instant it resumes. */
export type ResumeAnchor = "keep" | "now"

/** A subscription. */
export interface Subscription {
  readonly phase: Phase
  readonly plan: PlanVersionRef
  /** The ISO 4217 code of the currency. It never changes. */
  readonly currency: string
  readonly quantities: Quantities
  readonly periods: Periods
  readonly startAt: number
  /** `null` without a trial. */
  readonly trialEndAt: number | null
  readonly trialUsage: TrialUsage
  /** When to remind of the trial's end. `null` once it was done, and without a trial. */
  readonly trialReminderAt: number | null
  readonly activatedAt: number | null
  /** The open period: of a trial, or of the plan. */
  readonly period: Period | null
  /** How many periods were opened so far: the `number` of the next one. */
  readonly opened: number
  /** The period that closed last, and when. Unless the subscription is paused, the next one opens at this instant. */
  readonly closed: { readonly period: Period; readonly at: number } | null
  readonly pending: PendingChange | null
  readonly pausedAt: number | null
  /** When to resume, and how. `null` unless paused with a date. */
  readonly resume: { readonly at: number; readonly anchor: ResumeAnchor } | null
  /** When somebody asked to end it last. */
  readonly canceledAt: number | null
  /** When it will end. */
  readonly endsAt: number | null
  /** What happens to charges for the time after {@link endsAt}. */
  readonly endCredit: CreditPolicy
  readonly endedAt: number | null
  /** The latest instant of a step so far. Time does not go back: a step at an earlier instant counts as at this one. */
  readonly asOf: number
  /** Rises by one with each event of the subscription. */
  readonly sequence: number
}
