/**
 * Spend alerts, which publish an event when what a customer's usage costs reaches an amount, and can block.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** `once`: it fires once in a period. `multiples`: it fires again at each multiple of its amount. */
export type SpendAlertRepeat = "once" | "multiples"

/**
 * `notify`: it publishes its event. `block`: it also blocks until the end of the period. `invoice`: it also bills the usage of
 * the period so far. Only for alerts of a subscription.
 */
export type SpendAlertAction = "notify" | "block" | "invoice"

/**
 * Publishes the event `spend.alert` when what usage costs in a period reaches the amount, before discounts and taxes. Fees
 * don't count. Amounts are integers of the currency's minor unit.
 */
export interface SpendAlert {
  /** `spa_…` */
  readonly id: string
  readonly customerId: string
  /**
   * The subscription that is watched, in each of its periods. `null`: what all subscriptions of the customer cost in a UTC
   * month.
   */
  readonly subscriptionId: string | null
  readonly currency: string
  readonly amount: bigint
  readonly repeat: SpendAlertRepeat
  readonly action: SpendAlertAction
  /** The amount at which it last fired: its amount then, or a multiple of it. 0 if it never has. */
  readonly firedAmount: bigint
  /** The start of the period in which it last fired. */
  readonly firedPeriodStart: Date | null
  readonly firedAt: Date | null
  /** Until when it blocks: the end of the period in which its amount was reached. */
  readonly blockedUntil: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A new alert. Earlier usage of the period counts: it fires at once if its amount is reached. */
export interface CreateSpendAlert {
  readonly customerId: string
  /** A subscription of the customer. Default: all of them, by UTC months. */
  readonly subscriptionId?: string | null | undefined
  /** An ISO 4217 code: with `subscriptionId`, the currency of the subscription. */
  readonly currency: string
  /** From 1 to 10^30. Beyond 2^53 − 1 it must be a `bigint`. */
  readonly amount: number | bigint
  /** Default: `once`. */
  readonly repeat?: SpendAlertRepeat | undefined
  /** Default: `notify`. */
  readonly action?: SpendAlertAction | undefined
}

/** What changes of an alert. It blocks no more until it is checked, which is within a second. */
export interface UpdateSpendAlert {
  readonly amount?: number | bigint | undefined
  readonly action?: SpendAlertAction | undefined
}

/** Selects alerts, newest first. */
export interface ListSpendAlerts extends PageQuery {
  readonly customerId?: string | undefined
}

/**
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `SubscriptionNotFoundError`, `SpendAlertNotFoundError`,
 * `LimitReachedError` (20 for a customer) and `InvoicingUnsupportedError`.
 */
export interface SpendAlerts {
  create(input: CreateSpendAlert, options?: CallOptions): Promise<SpendAlert>
  get(id: string, options?: CallOptions): Promise<SpendAlert>
  /** It does not fire again for an amount of the period at which it has fired, nor for a smaller one. */
  update(id: string, input: UpdateSpendAlert, options?: CallOptions): Promise<SpendAlert>
  /** Deletes an alert. It won't fire again, and blocks no more. */
  delete(id: string, options?: CallOptions): Promise<void>
  list(query?: ListSpendAlerts, options?: CallOptions): Listing<SpendAlert>
}
