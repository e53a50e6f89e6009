/**
 * A subscription of a customer. Its rules are those of `@billwright/engine`.
 */
import { type Action, availableActions, type Subscription as EngineSubscription } from "@billwright/engine"
import { type DateTime, Schema } from "effect"
import { VersionNumber } from "../catalog/Plan.ts"
import { CustomerId } from "../customers/Customer.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import { Currency } from "../shared/Currency.ts"
import { type Due, type DueFailure, FailureFilter } from "../shared/Due.ts"
import { Metadata } from "../shared/Metadata.ts"
import { pageFields } from "../shared/Page.ts"
import * as Text from "../shared/Text.ts"

/** Most subscriptions of an invoice group that have not ended. They are billed in one transaction. */
export const MAX_INVOICE_GROUP = 50
/** The longest name of an invoice group, in code points. */
export const MAX_INVOICE_GROUP_LENGTH = 64

export const InvoiceGroup = Text.bounded(1, MAX_INVOICE_GROUP_LENGTH)

export const Phase = Schema.Literals(["scheduled", "trialing", "active", "paused", "ended"])
export type Phase = typeof Phase.Type

/** A subscription as it is stored. `dueAt` is when something happens to it by itself. */
export interface StoredSubscription extends Due {
  readonly id: SubscriptionId
  readonly customerId: CustomerId
  /** Where the subscription is in its life, as plain data that can be stored as JSON. */
  readonly state: EngineSubscription
  /**
   * What falls due at one instant for all subscriptions of a customer with this group and the same currency is on one
   * invoice. `null`: it has invoices of its own. It never changes.
   */
  readonly invoiceGroup: string | null
  readonly metadata: Metadata
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

/**
 * A subscription, with what the engine says about it. The instants of the engine are in epoch milliseconds:
 * `subscriptionView` gives all of them as `DateTime.Utc`.
 */
export interface Subscription extends EngineSubscription {
  readonly id: SubscriptionId
  readonly customerId: CustomerId
  /** The group of subscriptions that share invoices with it. `null`: it has invoices of its own. */
  readonly invoiceGroup: string | null
  /** What can be asked of it as it is. */
  readonly availableActions: ReadonlyArray<Action>
  /** When something happens to it by itself, in epoch milliseconds. `null`: never. */
  readonly nextAt: number | null
  /** Why that failed last. `null` unless it did. */
  readonly failure: DueFailure | null
  /**
   * Since when it is past due, in epoch milliseconds: the payment of one of its open invoices was declined, or its due date
   * is over. `null`: it is not past due. Its `phase` does not change by that.
   */
  readonly pastDueSince: number | null
  readonly metadata: Metadata
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

/** The subscription as callers see it. */
export const toSubscription = (
  { dueAt, state, ...stored }: StoredSubscription,
  pastDueSince: number | null,
): Subscription => ({
  ...state,
  ...stored,
  availableActions: availableActions(state),
  nextAt: dueAt,
  pastDueSince,
})

const quantityMessage = { message: 'must be a decimal in a string, such as "2.5", or an integer' }
/** A decimal in a string, or an integer. */
const Quantity = Schema.Union([Schema.String, Schema.Int.annotate(quantityMessage), Schema.BigInt]).annotate(
  quantityMessage,
)
const Quantities = Schema.Record(Schema.String, Quantity)
/** The quantities of an input. */
export type Quantities = typeof Quantities.Type

const Credit = Schema.Literals(["prorate", "none"])
const Anchor = Schema.Literals(["keep", "now"])
const timeMessage = { message: "must be now, period_end or an instant" }
const CommandTime = Schema.Union([Schema.Literals(["now", "period_end"]), Schema.DateTimeUtc]).annotate(
  timeMessage,
)
const Trial = Schema.Union([
  Schema.Struct({ days: Schema.Number }),
  Schema.Struct({ endAt: Schema.DateTimeUtc }),
]).annotate({ message: "must be null, or have either days or endAt" })

/** The input of `Subscriptions.create`. */
export const CreateSubscription = Schema.Struct({
  customerId: CustomerId,
  /** The key of a plan. */
  plan: Schema.String,
  /** The number of a version of the plan. Default: the newest. The subscription stays at it until it is changed. */
  version: Schema.optionalKey(VersionNumber),
  /** Default: the only currency of the plan. */
  currency: Schema.optionalKey(Schema.String),
  /** A decimal or an integer for each quantity that charges of the plan use. */
  quantities: Schema.optionalKey(Quantities),
  /** Default: now. With an instant in the past, one invoice bills all periods since then. */
  startAt: Schema.optionalKey(Schema.DateTimeUtc),
  /** The local date and time from which boundaries are computed: `2026-02-01`. Default: the end of the trial, or the start. */
  anchor: Schema.optionalKey(Schema.String),
  /** An IANA time zone. Default: `UTC`. */
  timezone: Schema.optionalKey(Schema.String),
  /** Default: the trial of the plan. `null`: none. */
  trial: Schema.optionalKey(Schema.NullOr(Trial)),
  /** Whether usage of the trial is rated and given free (`free`, the default) or charged when it ends (`charged`). */
  trialUsage: Schema.optionalKey(Schema.Literals(["free", "charged"])),
  /** The code or the id of a coupon, which is redeemed. It lowers the first invoice, too. */
  coupon: Schema.optionalKey(Schema.String),
  /**
   * A name of your own. Subscriptions of a customer with the same group and currency share an invoice for all that falls
   * due by itself at one instant, as their renewals. It can't be changed. Default: `null`, invoices of its own.
   */
  invoiceGroup: Schema.optionalKey(Schema.NullOr(InvoiceGroup)),
  metadata: Schema.optionalKey(Metadata),
})
export interface CreateSubscription extends Schema.Schema.Type<typeof CreateSubscription> {}

/** The input of `Subscriptions.change`. */
export const ChangeSubscription = Schema.Struct({
  /** The key of a plan. Without `version`, the subscription moves to its newest version. */
  plan: Schema.optionalKey(Schema.String),
  version: Schema.optionalKey(VersionNumber),
  quantities: Schema.optionalKey(Quantities),
  /** Required with `plan`. Default for quantities: `period_end` if one falls, else `now`. */
  at: Schema.optionalKey(CommandTime),
  /** Whether a change now is billed at once (the default) or by the next invoice. */
  bill: Schema.optionalKey(Schema.Literals(["now", "next_invoice"])),
})
export interface ChangeSubscription extends Schema.Schema.Type<typeof ChangeSubscription> {}

/** The input of `Subscriptions.cancel`. */
export const CancelSubscription = Schema.Struct({
  at: CommandTime,
  /** Whether what was charged for the time after the end is credited. Default: `prorate`. */
  credit: Schema.optionalKey(Credit),
})
export interface CancelSubscription extends Schema.Schema.Type<typeof CancelSubscription> {}

/** The input of `Subscriptions.pause`. */
export const PauseSubscription = Schema.Struct({
  /** When it resumes by itself. Default: only when asked. */
  resumeAt: Schema.optionalKey(Schema.DateTimeUtc),
  /** The boundaries with which it resumes at `resumeAt`: those before (`keep`, the default), or new ones. */
  anchor: Schema.optionalKey(Anchor),
  /** Whether what was charged for the time of the pause is credited. Default: `prorate`. */
  credit: Schema.optionalKey(Credit),
})
export interface PauseSubscription extends Schema.Schema.Type<typeof PauseSubscription> {}

/** The input of `Subscriptions.resume`. */
export const ResumeSubscription = Schema.Struct({
  /** The boundaries with which it goes on: those before (`keep`, the default), or new ones that begin now. */
  anchor: Schema.optionalKey(Anchor),
})
export interface ResumeSubscription extends Schema.Schema.Type<typeof ResumeSubscription> {}

/** Which subscriptions to list. */
export const ListSubscriptions = Schema.Struct({
  ...pageFields,
  customerId: Schema.optionalKey(CustomerId),
  phase: Schema.optionalKey(Phase),
  invoiceGroup: Schema.optionalKey(InvoiceGroup),
  /** The ISO 4217 code of a currency. */
  currency: Schema.optionalKey(Currency),
  /** The key of the plan that they have now, and the number of its version. */
  plan: Schema.optionalKey(Schema.String),
  version: Schema.optionalKey(VersionNumber),
  /** Those whose last billing run failed. */
  failure: Schema.optionalKey(FailureFilter),
})
export interface ListSubscriptions extends Schema.Schema.Type<typeof ListSubscriptions> {}

export { SubscriptionNotFound } from "../invoices/SubscriptionId.ts"
