/**
 * What else happens when a customer is erased. Payments provide it.
 */
import { Context, Effect } from "effect"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { CustomerId } from "./Customer.ts"

/**
 * Acts in the transaction that erases the customer, which holds the customer: right before that, and once more right after it,
 * when others who wrote of the customer are done.
 */
export type OnErase = (
  customerId: CustomerId,
) => Effect.Effect<void, InvalidInput | StorageError, CurrentTenant>

/** Without it, nothing else happens. */
export class CustomerErasure extends Context.Reference<OnErase>(
  "@billwright/core/customers/CustomerErasure",
  {
    defaultValue: () => () => Effect.void,
  },
) {}

/**
 * What is done in the same transaction right after the customer is erased, and again each time that it is erased again. Events
 * provide it. Without it, nothing is done.
 */
export class CustomerErased extends Context.Reference<
  (customerId: CustomerId) => Effect.Effect<void, StorageError, CurrentTenant>
>("@billwright/core/customers/CustomerErased", { defaultValue: () => () => Effect.void }) {}
