/**
 * Subscriptions: which customer has which version of a plan, since when and until when.
 */
import type { Action, BillChange, CreditPolicy, Phase, ResumeAnchor, TrialUsage } from "@billwright/engine"
import type { CallOptions, Instant, Metadata } from "../Call.ts"
import type { DueFailure, PlanRef } from "../invoices/Billed.ts"
import type { Invoice } from "../invoices/Invoices.ts"
import type { Listing, PageQuery } from "../Listing.ts"

export type {
  Action as SubscriptionAction,
  BillChange,
  CreditPolicy,
  Phase as SubscriptionPhase,
  ResumeAnchor,
  TrialUsage,
} from "@billwright/engine"

/** Quantities that charges of a plan use, as decimals in strings: `{ seats: "5" }`. */
export type SubscriptionQuantities = Readonly<Record<string, string>>

/** Quantities of an input: integers, or decimals in strings, 0 or more each. At most 100. */
export type SubscriptionQuantitiesInput = Readonly<Record<string, string | number | bigint>>

/** A change that waits. */
export interface PendingChange {
  /** `null`: the plan stays. */
  readonly plan: PlanRef | null
  /** The quantities that change. */
  readonly quantities: SubscriptionQuantities
  readonly at: "period_end" | Date
  /** Whether the change is billed at once or by the next invoice. */
  readonly bill: BillChange
}

/** A customer's subscription to a version of a plan. */
export interface Subscription {
  /** `sub_…` */
  readonly id: string
  readonly customerId: string
  readonly phase: Phase
  /** It stays at this version until it is changed. */
  readonly plan: PlanRef
  /** The ISO 4217 code of the currency. It never changes. */
  readonly currency: string
  readonly quantities: SubscriptionQuantities
  /** The change that waits for the end of the period, or for an instant. */
  readonly pending: PendingChange | null
  /** The local date and time that boundaries of periods are computed from: `2026-01-31T09:30:00.000`. */
  readonly anchor: string
  /** The IANA time zone of the anchor. */
  readonly timezone: string
  readonly startAt: Date
  /** `null` without a trial. */
  readonly trialEndAt: Date | null
  /** When it became active for the first time. */
  readonly activatedAt: Date | null
  /** When the open period began. `null` when none is open. */
  readonly currentPeriodStart: Date | null
  /** When the open period ends. This instant belongs to the next one. `null` when none is open. */
  readonly currentPeriodEnd: Date | null
  readonly pausedAt: Date | null
  /** When a paused subscription resumes by itself. */
  readonly resumesAt: Date | null
  /** When somebody asked to end it. */
  readonly canceledAt: Date | null
  /** When it ends because of a cancellation. */
  readonly endsAt: Date | null
  readonly endedAt: Date | null
  /** When something happens to it by itself, such as a renewal. `null` when nothing will. */
  readonly nextAt: Date | null
  /** Why that failed last. `null` unless it did. */
  readonly failure: DueFailure | null
  /**
   * Since when it is past due: the payment of one of its open invoices was declined, or its due date is over. `null`: it is
   * not past due. Its `phase` does not change by that.
   */
  readonly pastDueSince: Date | null
  /** What can be asked of it as it is. */
  readonly availableActions: ReadonlyArray<Action>
  /** The group of subscriptions that it shares invoices with. `null`: it has invoices of its own. It never changes. */
  readonly invoiceGroup: string | null
  readonly metadata: Metadata
  /** Rises by one with each event of the subscription. */
  readonly sequence: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A new subscription. */
export interface CreateSubscription {
  readonly customerId: string
  /** The key of a plan. */
  readonly plan: string
  /** The number of a version of the plan. Default: the newest. */
  readonly version?: number | undefined
  /** A currency of the plan. Default: the customer's, if the plan has it, or else the only currency of the plan. */
  readonly currency?: string | undefined
  /** A value for each quantity that charges of the plan use: `{ seats: 5 }`. */
  readonly quantities?: SubscriptionQuantitiesInput | undefined
  /** Default: now. With an instant in the past, one invoice bills all periods since then. */
  readonly startAt?: Instant | undefined
  /**
   * The local date and time that boundaries of periods are computed from: `2026-02-01`, `2026-02-01T09:00`. Default: the
   * end of the trial, or else the start.
   */
  readonly anchor?: string | undefined
  /** An IANA time zone, such as `Europe/Berlin`. Default: the customer's, or else `UTC`. */
  readonly timezone?: string | undefined
  /** 1 to 730 days, or up to an instant. Default: the trial of the plan. `null`: no trial. */
  readonly trial?: { readonly days: number } | { readonly endAt: Instant } | null | undefined
  /** Whether usage of the trial is free (the default), or is charged when the trial ends. */
  readonly trialUsage?: TrialUsage | undefined
  /** The code or the id of a coupon, which is redeemed. It lowers the first invoice, too. */
  readonly coupon?: string | undefined
  /**
   * A name of your own, of 1 to 64 characters. Subscriptions of a customer with the same group and currency share an
   * invoice for what falls due by itself at one instant, such as their renewals. What is billed when a subscription is
   * created is on an invoice of its own. At most 50 subscriptions that have not ended. It can't be changed. Default:
   * `null`, invoices of its own.
   */
  readonly invoiceGroup?: string | null | undefined
  readonly metadata?: Metadata | undefined
}

/** When a command takes effect: at once, at the end of the open period, or at an instant that is not in the past. */
export type CommandTime = "now" | "period_end" | Instant

/** A change of a subscription: another plan, other quantities, or both. */
export interface ChangeSubscription {
  /** The key of a plan. Without `version`, the subscription moves to its newest version. */
  readonly plan?: string | undefined
  readonly version?: number | undefined
  /** The quantities that change. Others stay. */
  readonly quantities?: SubscriptionQuantitiesInput | undefined
  /** Required with `plan`. Default for quantities: `period_end` if one of them falls, else `now`. */
  readonly at?: CommandTime | undefined
  /** Whether a change now is billed at once (the default) or by the next invoice. */
  readonly bill?: BillChange | undefined
}

/** When a subscription ends. */
export interface CancelSubscription {
  readonly at: CommandTime
  /** Whether what was charged for the time after the end is credited. Default: `prorate`. */
  readonly credit?: CreditPolicy | undefined
}

/** How a subscription is paused. */
export interface PauseSubscription {
  /** When it resumes by itself, in the future. Default: only when asked. */
  readonly resumeAt?: Instant | undefined
  /** The boundaries with which it resumes at `resumeAt`: those before (`keep`, the default), or new ones. */
  readonly anchor?: ResumeAnchor | undefined
  /** Whether what was charged for the time of the pause is credited. Default: `prorate`. */
  readonly credit?: CreditPolicy | undefined
}

/** How a subscription resumes. */
export interface ResumeSubscription {
  /** The boundaries with which it goes on: those before (`keep`, the default), or new ones that begin now. */
  readonly anchor?: ResumeAnchor | undefined
}

/** A command to preview, with what it takes. */
export type PreviewSubscription =
  | ({ readonly action: "create" } & CreateSubscription)
  | ({ readonly action: "change"; readonly subscriptionId: string } & ChangeSubscription)
  | ({ readonly action: "cancel"; readonly subscriptionId: string } & CancelSubscription)
  | ({ readonly action: "pause"; readonly subscriptionId: string } & PauseSubscription)
  | ({ readonly action: "resume"; readonly subscriptionId: string } & ResumeSubscription)
  | { readonly action: "uncancel"; readonly subscriptionId: string }

/** What would happen. Nothing of it is stored: new ids in it are of nothing. */
export interface SubscriptionPreview {
  /** The subscription after the command. */
  readonly subscription: Subscription
  /** The drafts that would be made at once, oldest first. */
  readonly invoices: ReadonlyArray<Invoice>
  /**
   * The invoice after these, with the usage that is recorded by now. `null` when nothing would be invoiced any more, as
   * while the subscription is paused. In an invoice group it may be one of several subscriptions.
   */
  readonly nextInvoice: Invoice | null
}

/** Selects subscriptions, newest first. Ended ones are listed, too. */
export interface ListSubscriptions extends PageQuery {
  readonly customerId?: string | undefined
  readonly phase?: Phase | undefined
  readonly invoiceGroup?: string | undefined
  /** The ISO 4217 code of a currency. */
  readonly currency?: string | undefined
  /** The key of the plan that they have now. */
  readonly plan?: string | undefined
  /** The number of the version of their plan: 1 to 2^31 − 1. */
  readonly version?: number | undefined
  /** Only subscriptions whose last billing run failed. `set_aside`: it is not tried again by itself. */
  readonly failure?: "any" | "set_aside" | undefined
}

/**
 * Errors: `InvalidInputError`, whose `problems` lists everything that is wrong, `SubscriptionNotFoundError`,
 * `CustomerNotFoundError`, `PlanNotFoundError`, `ActionUnavailableError` when the subscription does not allow a command
 * as it is, and `InvoicingUnsupportedError` on a store without subscriptions.
 *
 * A command first does everything that is due before it. Invoices are made as drafts.
 */
export interface Subscriptions {
  /** Gives a customer a version of a plan. What the plan charges in advance is billed by a draft invoice at once. */
  create(input: CreateSubscription, options?: CallOptions): Promise<Subscription>
  get(id: string, options?: CallOptions): Promise<Subscription>
  list(query?: ListSubscriptions, options?: CallOptions): Listing<Subscription>
  /** Moves to another plan or version, or changes quantities. A change that changes nothing does nothing. */
  change(id: string, input: ChangeSubscription, options?: CallOptions): Promise<Subscription>
  /** Ends the subscription: now, at the end of its period, or at an instant. */
  cancel(id: string, input: CancelSubscription, options?: CallOptions): Promise<Subscription>
  /** Takes a cancellation back before it has taken effect. */
  uncancel(id: string, options?: CallOptions): Promise<Subscription>
  /** Pauses the subscription now: nothing is charged until it resumes. */
  pause(id: string, input?: PauseSubscription, options?: CallOptions): Promise<Subscription>
  /** Ends a pause now. */
  resume(id: string, input?: ResumeSubscription, options?: CallOptions): Promise<Subscription>
  /**
   * What one of the calls above would do and bill now, and the invoice after that. It fails as the call would. Nothing is
   * stored, no number is taken, and no event is published.
   */
  preview(input: PreviewSubscription, options?: CallOptions): Promise<SubscriptionPreview>
  /**
   * Bills what usage that was recorded or voided late has changed, in a draft of its own, without waiting for the next
   * invoice. It looks back 1,200 periods. Invoices look back 13 by themselves, and a subscription that has ended has no
   * next one. If too much was billed, the total is below 0. `null` if nothing differs.
   */
  reconcile(id: string, options?: CallOptions): Promise<Invoice | null>
}
