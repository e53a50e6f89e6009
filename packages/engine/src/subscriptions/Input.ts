/**
 * What can be asked of a subscription.
 */
import type { PlanTerms } from "../catalog/Plan.ts"
import type {
  BillChange,
  CreditPolicy,
  PlanVersionRef,
  Quantities,
  ResumeAnchor,
  TrialUsage,
} from "./Subscription.ts"

/** A version of a plan with its terms, which must be valid. */
export interface PlanVersion extends PlanVersionRef {
  readonly terms: PlanTerms
}

/** When a command takes effect: at once, at the end of the open period, or at a later instant. */
export type CommandTime = "now" | "period_end" | number

/** Begins a subscription. */
export interface Create {
  readonly type: "create"
  readonly plan: PlanVersion
  /** Default: the only currency of the plan. */
  readonly currency?: string
  /** A value for each quantity that charges of the plan use. */
  readonly quantities?: Quantities
  /** Default: now. In the past, all periods since then are opened by the same step. */
  readonly startAt?: number
  /** A local date and time, `2026-02-01` or `2026-02-01T09:00`. Default: the end of the trial, or else the start. */
  readonly anchor?: string
  /** An IANA time zone. Default: `UTC`. */
  readonly timezone?: string
  /** Default: the trial of the plan. `null`: none. */
  readonly trial?: { readonly days: number } | { readonly endAt: number } | null
  /** Default: `free`. */
  readonly trialUsage?: TrialUsage
}

/** Moves to another plan version, or changes quantities, or both. */
export interface Change {
  readonly type: "change"
  readonly plan?: PlanVersion
  /** The quantities that change. Others stay. */
  readonly quantities?: Quantities
  /**
   * Required for a change of plan. Default for quantities: `period_end` if one of them falls, else `now`. What becomes of a
   * change that waits: docs/decisions/0060.
   */
  readonly at?: CommandTime
  /** Default: `now`. */
  readonly bill?: BillChange
}

/** Ends the subscription. */
export interface Cancel {
  readonly type: "cancel"
  readonly at: CommandTime
  /** Default: `prorate`. */
  readonly credit?: CreditPolicy
}

/** Takes a cancellation back before it has taken effect. */
export interface Uncancel {
  readonly type: "uncancel"
}

/** Pauses the subscription: nothing is charged until it resumes. */
export interface Pause {
  readonly type: "pause"
  /** When it resumes by itself. Default: only when asked. */
  readonly resumeAt?: number
  /** The anchor with which it resumes at `resumeAt`. Default: `keep`. */
  readonly anchor?: ResumeAnchor
  /** Default: `prorate`. */
  readonly credit?: CreditPolicy
}

/** Ends a pause. */
export interface Resume {
  readonly type: "resume"
  /** Default: `keep`. */
  readonly anchor?: ResumeAnchor
}

/** What somebody asks of a subscription. */
export type Command = Change | Cancel | Uncancel | Pause | Resume

/** Does what is due at the earliest due instant, if that is not after the step's. */
export interface Due {
  readonly type: "due"
}
