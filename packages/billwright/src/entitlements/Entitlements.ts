/**
 * Entitlements: what customers may use, by the features of the plans of their subscriptions.
 */
import type { CallOptions } from "../Call.ts"

/**
 * `included`: a plan includes it. `overage`: it is beyond a soft limit. `limit_reached`: it would be beyond a hard limit.
 * `spend_limit`: it is beyond a soft limit, and a spend alert blocks.
 * `not_included`: no plan of the customer has the feature. `past_due`: one has, but a payment is late, and the grace of the
 * plan is over. `no_subscription`: no subscription of the customer is active or in a trial.
 */
export type EntitlementReason =
  | "included"
  | "overage"
  | "limit_reached"
  | "spend_limit"
  | "not_included"
  | "past_due"
  | "no_subscription"

/** A customer and a feature. */
export interface CheckEntitlement {
  readonly customerId: string
  /** The key of the feature in plans. */
  readonly feature: string
  /** How much more of a metered feature is asked for: 1 to 2^53 − 1. Default: 1. */
  readonly quantity?: number | undefined
}

/** What is asked of a feature, and how old the answer may be. */
export interface AskEntitlement extends CheckEntitlement {
  /**
   * In milliseconds: 0 to 60,000. If this process has an answer that is no older, it gives that, and asks no store. Default:
   * 0, which always asks.
   */
  readonly maxStalenessMillis?: number | undefined
}

/** What a customer uses of a metered feature. */
export interface ConsumeEntitlement extends CheckEntitlement {
  /** The dimensions of the usage record. */
  readonly dimensions?: Readonly<Record<string, string>> | undefined
  /**
   * 1 to 255 characters. With it, the same again records nothing and gives the first answer, for ever. It is the key of the
   * usage record, too, so it is unique for the customer.
   */
  readonly idempotencyKey?: string | undefined
}

/** Whether a customer may use a feature, and what is left of it. */
export interface Entitlement {
  readonly customerId: string
  readonly feature: string
  /** `null` if no plan of the customer has the feature. */
  readonly type: "boolean" | "config" | "metered" | null
  readonly allowed: boolean
  readonly reason: EntitlementReason
  /** The value of a `config` feature. Otherwise `null`. */
  readonly value: string | null
  /** The subscription that decides. `null` if none has the feature. */
  readonly subscriptionId: string | null
  /** The key of the meter. This and all that follows is `null` unless the feature is metered. */
  readonly meter: string | null
  /** `hard`: what is beyond the limit is refused. `soft`: it is allowed as overage. */
  readonly limitType: "hard" | "soft" | null
  /** What the period includes, with what rolled over, in whole units of the meter. */
  readonly limit: bigint | null
  /** How much of the limit rolled over from earlier periods. It is used first. */
  readonly rolledOver: bigint | null
  /** What was used in the period. */
  readonly used: bigint | null
  /** What is left: at least 0. */
  readonly balance: bigint | null
  /** What was used beyond the limit. */
  readonly overage: bigint | null
  /** Since when usage counts. */
  readonly periodStart: Date | null
  /** When the count begins again. */
  readonly resetsAt: Date | null
}

/** What came of using a feature. Its amounts are those after it. What rolled over is part of its limit. */
export interface EntitlementConsumption extends Omit<Entitlement, "rolledOver"> {
  readonly quantity: number
  /** The usage record that was made. `null` if it was not allowed. */
  readonly usageRecordId: string | null
  readonly idempotencyKey: string | null
}

/**
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, and `InvoicingUnsupportedError` on a store without subscriptions.
 * `consume` also has `UsageKeyConflictError`.
 */
export interface Entitlements {
  /**
   * Whether a customer may use a feature now. It promises nothing: another call may use it up first.
   *
   * With `maxStalenessMillis` it may give an answer that this process has read before. `consume` of this process makes it
   * forget what it has read of the customer, and within a transaction it always asks. So does the client of the API.
   */
  check(input: AskEntitlement, options?: CallOptions): Promise<Entitlement>
  /** All features of the plans of a customer, in the order of their keys, each as it is for a quantity of 1. */
  list(customer: { readonly customerId: string }, options?: CallOptions): Promise<ReadonlyArray<Entitlement>>
  /**
   * Checks a metered feature, and records its usage if it is allowed. Of any number of calls at once, those are allowed for
   * whom a hard limit has room. One that is not allowed records nothing: its answer has `allowed: false`, and is no error.
   *
   * ```ts
   * const { allowed } = await billing.entitlements.consume({ customerId, feature: "exports", idempotencyKey: requestId })
   * ```
   */
  consume(input: ConsumeEntitlement, options?: CallOptions): Promise<EntitlementConsumption>
}
