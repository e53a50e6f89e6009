/**
 * What a step of the machine asks for. A service applies the effects of a step in their order, in one transaction.
 */
import type { Period, Subscription } from "./Subscription.ts"

/** Events of a subscription. */
export type SubscriptionEventType =
  | "subscription.created"
  | "subscription.activated"
  | "subscription.trial_ending"
  | "subscription.renewed"
  | "subscription.updated"
  | "subscription.paused"
  | "subscription.resumed"
  | "subscription.canceled"
  | "subscription.ended"

/** Publish an event with the subscription as it is in `subscription`. */
export interface EventEffect {
  readonly kind: "event"
  readonly type: SubscriptionEventType
  /** When it happened. */
  readonly at: number
  readonly subscription: Subscription
  /** The values before, of the fields that somebody changed. Empty but for `subscription.updated`. */
  readonly previous: Partial<Pick<Subscription, "plan" | "quantities" | "pending" | "endsAt">>
}

/**
 * What to do in a period:
 *
 * - `open_period`: store it. `close_period`: store it for the last time. Its usage is known now.
 * - `charge_advance`: charge the fees of the segment.
 * - `grant`: give the credits of the plan for the period, or from segment 1 on, move them to what is served of it by now.
 * - `slice_usage`: the plan of the segment ended, so its usage can be rated.
 * - `credit_unused`: credit what the segment was charged for the time after its end.
 * - `invoice`: everything that is to be billed until now goes on an invoice. Without lines there is none.
 */
export type BillingKind =
  | "open_period"
  | "charge_advance"
  | "grant"
  | "slice_usage"
  | "credit_unused"
  | "close_period"
  | "invoice"

/** Something to do in a period. A subscription has at most one effect of a kind, a period's number and a segment. */
export interface BillingEffect {
  readonly kind: BillingKind
  readonly at: number
  /** The period as it is after the effect. */
  readonly period: Period
  /** The index of a segment of the period. For an invoice after the last segment: the number of segments. */
  readonly segment: number
  /** Of an invoice: whether it also bills the usage of the period that is not over yet. */
  readonly soFar?: true
}

export type Effect = EventEffect | BillingEffect
