/**
 * Credit alerts, which publish an event when what a customer has of a unit falls below a level.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/**
 * Publishes the event `credit.low` when what a customer has of a unit, without what is held, falls below the level: once each
 * time it does. It commits with the change of the credits.
 */
export interface CreditAlert {
  /** `cal_…` */
  readonly id: string
  readonly customerId: string
  /** An ISO 4217 currency code, or a unit of yours. */
  readonly unit: string
  /** In the smallest unit. It fires when less is available. */
  readonly level: bigint
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A new alert. It fires at once if less than its level is available. */
export interface CreateCreditAlert {
  readonly customerId: string
  readonly unit: string
  /** From 1 to 10^30. Beyond 2^53 − 1 it must be a `bigint`. */
  readonly level: number | bigint
}

/** What changes of an alert. It fires at once if less than the new level is available, and not less than the one before. */
export interface UpdateCreditAlert {
  readonly level?: number | bigint | undefined
}

/** Selects alerts, newest first. */
export interface ListCreditAlerts extends PageQuery {
  readonly customerId?: string | undefined
}

/**
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `CreditAlertNotFoundError`, `LimitReachedError` (20 for a customer) and
 * `InvoicingUnsupportedError`.
 */
export interface CreditAlerts {
  create(input: CreateCreditAlert, options?: CallOptions): Promise<CreditAlert>
  get(id: string, options?: CallOptions): Promise<CreditAlert>
  update(id: string, input: UpdateCreditAlert, options?: CallOptions): Promise<CreditAlert>
  /** Deletes an alert. It won't fire again. */
  delete(id: string, options?: CallOptions): Promise<void>
  list(query?: ListCreditAlerts, options?: CallOptions): Listing<CreditAlert>
}
