/**
 * Starts billing.
 */
import type { Billing } from "./Billing.ts"
import type { BillingOptions } from "./BillingOptions.ts"
import type { EventDefinition } from "./events/EventDefinition.ts"
import type { EventsOf } from "./events/EventMap.ts"
import { startBilling } from "./runtime/Handle.ts"
import { partsOf } from "./runtime/StoreParts.ts"

/**
 * Starts billing.
 *
 * ```ts
 * import { createBilling } from "billwright"
 * import { postgres } from "billwright/postgres"
 *
 * const billing = await createBilling({ store: postgres({ pool }) })
 * const customer = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
 * await billing.usage.record({ customerId: customer.id, productId: "api", quantity: 5, unit: "call" })
 * ```
 *
 * Rejects with a `ConfigurationError` when an option is wrong, the storage lacks a port, the database doesn't exist, the user may not connect
 * or migrate, or `encryptionKeys` lacks the key of a stored secret. Rejects with a `StorageUnavailableError` when
 * the database can't be reached. The message says what to do.
 */
export const createBilling = async <const Definitions extends ReadonlyArray<EventDefinition> = []>(
  options: BillingOptions<Definitions>,
): Promise<Billing<EventsOf<Definitions>>> => {
  const start = partsOf(options?.store)?.starter?.billing ?? startBilling
  const billing: object = await start(options)
  return billing as Billing<EventsOf<Definitions>>
}
