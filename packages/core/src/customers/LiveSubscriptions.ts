/**
 * The storage port that tells whether a customer may be erased.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { CustomerId } from "./Customer.ts"

/**
 * Storages with subscriptions provide it. It acts for the current tenant only and joins the current transaction, if
 * there is one.
 */
export class LiveSubscriptions extends Context.Service<
  LiveSubscriptions,
  {
    /**
     * Whether a customer has a subscription that has not ended. In the transaction that removed the customer, it also
     * sees the subscriptions that others stored before.
     */
    readonly exist: (customerId: CustomerId) => Effect.Effect<boolean, StorageError, CurrentTenant>
  }
>()("@billwright/core/customers/LiveSubscriptions") {}
