/**
 * What else happens when a customer is erased. Payments provide it.
 */
import { Context, Effect } from "effect"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { CustomerId } from "./Customer.ts"

/** Acts in the transaction that erases the customer, right before that. It holds the customer. */
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
