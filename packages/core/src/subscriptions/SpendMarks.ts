/**
 * The storage port for marks: they say that the spend alerts of a customer have to be checked.
 */
import { Context, type DateTime, Effect, Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import { Collections } from "../shared/Collections.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant, Tenant } from "../shared/Tenant.ts"
import { spendAlerts } from "./SpendAlert.ts"

/** Most customers of one call of `waiting`. */
export const MAX_MARKED_CUSTOMERS = 500

/** A customer that has marks. */
export interface MarkedCustomer {
  readonly tenant: Tenant
  readonly customerId: CustomerId
  /** How often its check has failed in a row. */
  readonly attempts: number
  /** Which of its marks `waiting` has seen, in words of the storage. `putOff` leaves those that came later. */
  readonly seen: string
}

/**
 * `UsageStore.append` marks the customers of the records that it stores, in its own step, if they have spend alerts. A mark
 * waits for no other transaction, and none waits for it. `SubscriptionBook` marks a customer when a period opens or closes.
 *
 * `waiting` acts for all tenants, the other verbs for the current one. All verbs join the current transaction, if there is
 * one.
 */
export class SpendMarks extends Context.Service<
  SpendMarks,
  {
    /** Marks a customer. */
    readonly mark: (customerId: CustomerId) => Effect.Effect<void, StorageError, CurrentTenant>

    /** Customers with marks, but those that are put off beyond an instant: the ones that wait the longest first. */
    readonly waiting: (
      now: DateTime.Utc,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<MarkedCustomer>, StorageError>

    /**
     * Removes all marks of a customer that are there. Gives false if there is none, or if other transactions are removing
     * them. What is read afterwards in the transaction contains the records that made the marks. Call it inside a
     * transaction: when that is undone, the marks are there again.
     */
    readonly take: (customerId: CustomerId) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /**
     * Leaves one mark of those that `waiting` has seen of a customer, put off until an instant. Marks that were made since
     * are not put off, also when they were made before this is called: the check that failed may not have read what made
     * them.
     */
    readonly putOff: (
      marked: Pick<MarkedCustomer, "customerId" | "seen">,
      attempts: number,
      until: DateTime.Utc,
    ) => Effect.Effect<void, StorageError, CurrentTenant>
  }
>()("@billwright/core/subscriptions/SpendMarks") {}

/**
 * Gives the function that marks a customer who has spend alerts. The mark of one who has none would be a row to write and a check
 * to make. `undefined` without the port: then nobody has any.
 */
export const makeWatched = Effect.gen(function* () {
  const marks = Option.getOrUndefined(yield* Effect.serviceOption(SpendMarks))
  if (marks === undefined) return undefined
  const alerts = (yield* Collections).of(spendAlerts)
  return Effect.fnUntraced(function* (customerId: CustomerId) {
    const page = { limit: 1, cursor: undefined }
    const { data } = yield* Effect.catchTag(alerts.list({ customerId }, page), "CursorNotFound", Effect.die)
    if (data.length > 0) yield* marks.mark(customerId)
  })
})
