/**
 * A subscription as the REST API and promises show it.
 */
import type { Action, BillChange, PlanVersionRef, Quantities } from "@billwright/engine"
import type { DateTime } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import type { DueFailure } from "../shared/Due.ts"
import { ofMillis, ofMillisOrNull } from "../shared/Instant.ts"
import type { Metadata } from "../shared/Metadata.ts"
import type { Phase, Subscription } from "./Subscription.ts"

/** A change that waits for the end of the period, or for an instant. */
export interface PendingChangeView {
  /** `null`: the plan stays. */
  readonly plan: PlanVersionRef | null
  /** The quantities that change. */
  readonly quantities: Quantities
  readonly at: "period_end" | DateTime.Utc
  readonly bill: BillChange
}

export interface SubscriptionView {
  readonly id: SubscriptionId
  readonly customerId: CustomerId
  readonly phase: Phase
  readonly plan: PlanVersionRef
  readonly currency: string
  readonly quantities: Quantities
  readonly pending: PendingChangeView | null
  /** The local date and time from which boundaries are computed. */
  readonly anchor: string
  readonly timezone: string
  readonly startAt: DateTime.Utc
  readonly trialEndAt: DateTime.Utc | null
  readonly activatedAt: DateTime.Utc | null
  readonly currentPeriodStart: DateTime.Utc | null
  readonly currentPeriodEnd: DateTime.Utc | null
  readonly pausedAt: DateTime.Utc | null
  /** When a paused subscription resumes by itself. */
  readonly resumesAt: DateTime.Utc | null
  readonly canceledAt: DateTime.Utc | null
  readonly endsAt: DateTime.Utc | null
  readonly endedAt: DateTime.Utc | null
  readonly nextAt: DateTime.Utc | null
  readonly failure: DueFailure | null
  readonly pastDueSince: DateTime.Utc | null
  readonly availableActions: ReadonlyArray<Action>
  readonly invoiceGroup: string | null
  readonly metadata: Metadata
  readonly sequence: number
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

const pendingOf = (pending: Subscription["pending"]): PendingChangeView | null =>
  pending === null
    ? null
    : {
        plan: pending.plan,
        quantities: pending.quantities,
        at: pending.at === "period_end" ? pending.at : ofMillis(pending.at),
        bill: pending.bill,
      }

export const subscriptionView = (subscription: Subscription): SubscriptionView => {
  const { period, periods } = subscription
  return {
    id: subscription.id,
    customerId: subscription.customerId,
    phase: subscription.phase,
    plan: subscription.plan,
    currency: subscription.currency,
    quantities: subscription.quantities,
    pending: pendingOf(subscription.pending),
    anchor: periods.anchor,
    timezone: periods.timezone,
    startAt: ofMillis(subscription.startAt),
    trialEndAt: ofMillisOrNull(subscription.trialEndAt),
    activatedAt: ofMillisOrNull(subscription.activatedAt),
    currentPeriodStart: ofMillisOrNull(period?.start ?? null),
    currentPeriodEnd: ofMillisOrNull(period?.end ?? null),
    pausedAt: ofMillisOrNull(subscription.pausedAt),
    resumesAt: ofMillisOrNull(subscription.resume?.at ?? null),
    canceledAt: ofMillisOrNull(subscription.canceledAt),
    endsAt: ofMillisOrNull(subscription.endsAt),
    endedAt: ofMillisOrNull(subscription.endedAt),
    nextAt: ofMillisOrNull(subscription.nextAt),
    failure: subscription.failure,
    pastDueSince: ofMillisOrNull(subscription.pastDueSince),
    availableActions: subscription.availableActions,
    invoiceGroup: subscription.invoiceGroup,
    metadata: subscription.metadata,
    sequence: subscription.sequence,
    createdAt: subscription.createdAt,
    updatedAt: subscription.updatedAt,
  }
}
