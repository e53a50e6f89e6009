/**
 * The storage port for entitlements.
 */
import { Context, type Effect, type Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { ReachedLimit, StoredEntitlementConsumption } from "./Entitlement.ts"

/** Every verb acts for the current tenant only and joins the current transaction, if there is one. */
export class EntitlementStore extends Context.Service<
  EntitlementStore,
  {
    /**
     * Holds the usage of a customer until the transaction ends: others that lock it wait, and then see what this
     * transaction wrote. Of a transaction that reads as of its beginning, it fails with a retryable `StorageError` if
     * another one held the customer since. Call it inside a transaction.
     */
    readonly lock: (customerId: CustomerId) => Effect.Effect<void, StorageError, CurrentTenant>

    /** The consumption of a customer that has a key. */
    readonly byKey: (
      customerId: CustomerId,
      idempotencyKey: string,
    ) => Effect.Effect<Option.Option<StoredEntitlementConsumption>, StorageError, CurrentTenant>

    /**
     * Stores a consumption of a customer that the current transaction has locked. Fails with a `StorageError` if the customer
     * has another one with the key.
     */
    readonly insert: (
      consumption: StoredEntitlementConsumption,
    ) => Effect.Effect<void, StorageError, CurrentTenant>

    /**
     * Notes that a customer, whom the current transaction has locked, reached a limit. Gives whether that is new for the
     * feature, the subscription, the beginning of the period and the limit.
     */
    readonly reach: (limit: ReachedLimit) => Effect.Effect<boolean, StorageError, CurrentTenant>
  }
>()("@billwright/core/entitlements/EntitlementStore") {}
