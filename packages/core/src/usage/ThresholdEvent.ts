/**
 * The `usage.threshold` event of a firing.
 */
import type { DateTime } from "effect"
import { type Event, render } from "../events/Event.ts"
import { EVENT_ID_PREFIX, EventId } from "../events/EventId.ts"
import { usageThreshold } from "../events/EventType.ts"
import * as Id from "../shared/Id.ts"
import type { Mode } from "../shared/Tenant.ts"
import type { ThresholdCrossing } from "./Threshold.ts"
import type { UsageRecordId } from "./UsageRecord.ts"

/** Events of one append lie 2^30 apart, which leaves room for the ids of their deliveries and attempts. */
const EVENT_STRIDE = 2 ** 30

/**
 * The events of an append's firings: in the order of threshold and period, with ids that follow from the
 * largest id of the records that it stored. `at` is the latest `createdAt` of these.
 */
export const make = (
  crossings: ReadonlyArray<ThresholdCrossing>,
  lastRecordId: UsageRecordId,
  at: DateTime.Utc,
  mode: Mode,
): ReadonlyArray<Event> =>
  crossings.toSorted(inOrder).map((crossing, index) => {
    const id = EventId.make(Id.offset(EVENT_ID_PREFIX, lastRecordId, index * EVENT_STRIDE), {
      disableChecks: true,
    })
    const fields = { id, type: usageThreshold.name, timestamp: at }
    return {
      ...fields,
      customerId: crossing.threshold.customerId,
      idempotencyKey: null,
      endpointId: null,
      payload: render(fields, mode, dataOf(crossing)),
    }
  })

const inOrder = (a: ThresholdCrossing, b: ThresholdCrossing): number =>
  compare(a.threshold.id, b.threshold.id) || compare(a.periodKey, b.periodKey)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const dataOf = ({ periodKey, threshold, total }: ThresholdCrossing) => ({
  threshold_id: threshold.id,
  customer_id: threshold.customerId,
  product_id: threshold.productId,
  unit: threshold.unit,
  quantity: threshold.quantity,
  period: threshold.period,
  period_key: periodKey,
  total_quantity: total,
})
