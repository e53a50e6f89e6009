/**
 * The functions of events and deliveries. Usage thresholds publish events from here on.
 */
import { claimDeliveries } from "./ClaimFunction.ts"
import { deliveryFunctions } from "./DeliveryFunctions.ts"
import type { Migration } from "./Migration.ts"
import { publishEventFunction } from "./PublishEventFunction.ts"
import { publishFunctions } from "./PublishFunctions.ts"

export const migration0005: Migration = {
  id: 5,
  name: "event_functions",
  minReader: 2,
  statements: (schema) => [
    ...publishFunctions(schema),
    publishEventFunction(schema),
    `comment on function ${schema}.publish_event is
  'Publishes an event. Joins the current transaction. Raises BW400 (invalid), BW404 (no such customer), BW409 (key used).'`,
    claimDeliveries(schema),
    ...deliveryFunctions(schema),
  ],
}
