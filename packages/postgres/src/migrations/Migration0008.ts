/**
 * What claims, settles and cancels finds its rows by the index that is meant for it: databases of before have functions
 * that went through another one from end to end, when their plans were made while the queue was empty. And large batches
 * of usage are inserted without a look for conflicts first.
 */
import { claimDeliveries } from "./ClaimFunction.ts"
import { cancelDeliveries, settleDeliveries } from "./DeliveryFunctions.ts"
import type { Migration } from "./Migration.ts"
import { appendUsage } from "./Migration0002.ts"

export const migration0008: Migration = {
  id: 8,
  name: "functions_anew",
  minReader: 2,
  statements: (schema) => [
    claimDeliveries(schema),
    settleDeliveries(schema),
    cancelDeliveries(schema),
    appendUsage(schema),
  ],
}
