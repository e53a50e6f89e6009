/**
 * Automatic top-ups, which buy credits when a customer has less of a unit than a level.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"
import type { CreateTopUp, TopUp } from "./TopUps.ts"

/** Buys credits each time that less than a level is available, one top-up after another. */
export interface AutoTopUp extends Pick<
  TopUp,
  "amount" | "currency" | "customerId" | "price" | "taxCode" | "unit"
> {
  /** `atu_…` */
  readonly id: string
  /** In the smallest unit. It buys when less is available. */
  readonly level: bigint
  /** How often it buys in a UTC day, at most. */
  readonly maxPerDay: number
  /**
   * When a payment of it was declined. It buys nothing until it is changed, or the customer has a new payment method. `null`:
   * it works.
   */
  readonly suspendedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A new automatic top-up: a customer can have one for each unit. It buys at once if less than its level is available. */
export interface CreateAutoTopUp extends CreateTopUp {
  /** From 1 to 10^30. */
  readonly level: number | bigint
  /** From 1 to 100. Default: 1. */
  readonly maxPerDay?: number | undefined
}

/** What changes. One that is suspended works again, also if nothing is changed. */
export interface UpdateAutoTopUp {
  readonly level?: number | bigint | undefined
  readonly maxPerDay?: number | undefined
}

/** Selects automatic top-ups, newest first. */
export interface ListAutoTopUps extends PageQuery {
  readonly customerId?: string | undefined
}

/**
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `AutoTopUpNotFoundError`, `LimitReachedError` (20 for a customer) and
 * `InvoicingUnsupportedError`.
 */
export interface AutoTopUps {
  create(input: CreateAutoTopUp, options?: CallOptions): Promise<AutoTopUp>
  get(id: string, options?: CallOptions): Promise<AutoTopUp>
  update(id: string, input: UpdateAutoTopUp, options?: CallOptions): Promise<AutoTopUp>
  /** Deletes one. It buys nothing more, and its top-ups stay. */
  delete(id: string, options?: CallOptions): Promise<void>
  list(query?: ListAutoTopUps, options?: CallOptions): Listing<AutoTopUp>
}
