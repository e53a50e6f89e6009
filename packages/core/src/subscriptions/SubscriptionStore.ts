/**
 * The storage port for subscriptions.
 */
import type { Period } from "@billwright/engine"
import { Context, type Effect, type Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import type { FailureFilter } from "../shared/Due.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { Phase, StoredSubscription } from "./Subscription.ts"

/** Which subscriptions to list. `undefined` allows any. */
export interface SubscriptionFilter {
  readonly customerId?: CustomerId | undefined
  readonly phase?: Phase | undefined
  /** `true`: only those that have not ended. */
  readonly isLive?: true | undefined
  readonly invoiceGroup?: string | undefined
  readonly currency?: string | undefined
  /** The key of the plan that they have now. */
  readonly plan?: string | undefined
  /** The version of that plan. */
  readonly version?: number | undefined
  /** Those whose last billing run failed. */
  readonly failure?: FailureFilter | undefined
}

/** Active subscriptions with the same terms: they cost the same. */
export interface SameTerms {
  readonly plan: StoredSubscription["state"]["plan"]
  readonly currency: string
  readonly quantities: StoredSubscription["state"]["quantities"]
  /** How many there are. */
  readonly count: number
}

/**
 * Every verb acts for the current tenant only and joins the current transaction, if there is one. Without a transaction,
 * each verb is atomic. Values given out share nothing with what is stored.
 */
export class SubscriptionStore extends Context.Service<
  SubscriptionStore,
  {
    /** Stores a new subscription of an existing customer. Fails with a `StorageError` if its id is taken. */
    readonly insert: (subscription: StoredSubscription) => Effect.Effect<void, StorageError, CurrentTenant>

    readonly find: (
      id: SubscriptionId,
    ) => Effect.Effect<Option.Option<StoredSubscription>, StorageError, CurrentTenant>

    /** Newest first. The cursor is the id of a subscription. */
    readonly list: (
      filter: SubscriptionFilter,
      page: PageQuery,
    ) => Effect.Effect<Page<StoredSubscription>, CursorNotFound | StorageError, CurrentTenant>

    /**
     * How many active subscriptions have the same plan, version, currency and quantities: at most `limit` of these, in any
     * order. It reads no other subscriptions.
     */
    readonly sameTerms: (
      limit: number,
    ) => Effect.Effect<ReadonlyArray<SameTerms>, StorageError, CurrentTenant>

    /**
     * Reads a subscription, and holds it until the transaction ends: nobody else changes it. Call it inside a transaction.
     */
    readonly lock: (
      id: SubscriptionId,
    ) => Effect.Effect<Option.Option<StoredSubscription>, StorageError, CurrentTenant>

    /**
     * The same for a subscription and all that it is billed together with, in the order of their ids. Those are the
     * subscriptions of its customer in its invoice group and currency that have not ended, or have a draft. One without an
     * invoice group is alone. Empty if there is no such subscription. Call it inside a transaction that holds nothing else
     * of billing.
     */
    readonly lockGroup: (
      id: SubscriptionId,
    ) => Effect.Effect<ReadonlyArray<StoredSubscription>, StorageError, CurrentTenant>

    /**
     * Replaces a subscription that the current transaction holds. Its id, customer, invoice group and `createdAt` stay. Ends a lease on it
     * and forgets its failures: what is due at `dueAt` is due for the first time. Does nothing if there is no such
     * subscription.
     */
    readonly save: (subscription: StoredSubscription) => Effect.Effect<void, StorageError, CurrentTenant>

    /**
     * Stores periods of a subscription that the current transaction holds. A period replaces the one with its number.
     */
    readonly savePeriods: (
      id: SubscriptionId,
      periods: ReadonlyArray<Period>,
    ) => Effect.Effect<void, StorageError, CurrentTenant>

    /** The last `limit` stored periods of a subscription whose numbers are less than `before`, in the order of their numbers. */
    readonly periodsBefore: (
      id: SubscriptionId,
      before: number,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<Period>, StorageError, CurrentTenant>
  }
>()("@billwright/core/subscriptions/SubscriptionStore") {}
