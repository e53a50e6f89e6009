/**
 * What claims, settles and cancels finds its rows by the index that is meant for it. Databases of before have
 * functions that went through another one from end to end, when their plans were made while the queue was empty.
 */
import { claimDeliveries } from "./ClaimFunction.ts"
import { cancelDeliveries, settleDeliveries } from "./DeliveryFunctions.ts"
import type { Migration } from "./Migration.ts"

export const migration0008: Migration = {
  id: 8,
  name: "queue_by_its_indexes",
  minReader: 2,
  statements: (schema) => [claimDeliveries(schema), settleDeliveries(schema), cancelDeliveries(schema)],
}
