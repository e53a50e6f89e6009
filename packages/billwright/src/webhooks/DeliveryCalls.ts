/**
 * Implements `billing.deliveries`.
 */
import { type Delivery as Core, Deliveries as DeliveriesService } from "@billwright/core"
import { Effect } from "effect"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Deliveries } from "./Deliveries.ts"

const withAttempts = ({ attempts, attemptStartedAt, delivery }: Core.DeliveryWithAttempts) => ({
  ...delivery,
  attemptStartedAt,
  attempts,
})

export const makeDeliveries = (calls: Calls): Deliveries => {
  const deliveries = calls.service(DeliveriesService)
  return {
    get: (id, options) =>
      calls.run(() => Effect.map(deliveries.get(Ids.deliveryId(id)), withAttempts), options),
    list: (query, options) =>
      makeListing(query, (page) => calls.run(() => deliveries.list(toOptionalInput(page)), options)),
    replay: (id, options) => calls.run(() => deliveries.replay(Ids.deliveryId(id)), options),
    statistics: (query, options) => calls.run(() => deliveries.statistics(toOptionalInput(query)), options),
  }
}
