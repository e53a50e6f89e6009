/**
 * The `usage.threshold` event, which is published when a threshold fires.
 */
import { type DateTime, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as Event from "../events/Event.ts"
import { EVENT_ID_PREFIX, EventId } from "../events/EventId.ts"
import * as EventType from "../events/EventType.ts"
import { WireInteger } from "../events/WireInteger.ts"
import * as Id from "../shared/Id.ts"
import type { Mode } from "../shared/Tenant.ts"
import * as Text from "../shared/Text.ts"
import { type ThresholdCrossing, ThresholdId, ThresholdPeriod } from "./Threshold.ts"
import { ProductId, Unit, type UsageRecordId } from "./UsageRecord.ts"

/** The type of event for a threshold that was reached. It is published in the transaction of the record that reaches it. */
export const usageThreshold = EventType.make({
  name: "usage.threshold",
  description: "A customer's usage reached a threshold in one of its periods.",
  data: Schema.Struct({
    threshold_id: ThresholdId,
    customer_id: CustomerId,
    product_id: ProductId,
    unit: Unit,
    /** The quantity of the threshold. */
    quantity: WireInteger,
    period: ThresholdPeriod,
    /** Which period: `2026-11-21`, `2026-11` or `lifetime`. */
    period_key: Text.bounded(1, 10),
    /** The total of the period when the threshold was reached. */
    total_quantity: WireInteger,
  }),
  example: {
    threshold_id: "thr_01kahd3kc8e0fsr8zknzqgf2h2",
    customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
    product_id: "api",
    unit: "call",
    quantity: 1000,
    period: "month",
    period_key: "2026-11",
    total_quantity: 1003,
  },
})

/** The distance between the ids of one append's events. It leaves room for the ids of their deliveries and attempts. */
const EVENT_STRIDE = 2 ** 30

/**
 * The events for the thresholds that an append fired, sorted by threshold and period. Their ids are computed from
 * `lastRecordId`, the largest id of the records that the append stored. `at` is the latest `createdAt` of these records.
 */
export const make = (
  crossings: ReadonlyArray<ThresholdCrossing>,
  lastRecordId: UsageRecordId,
  at: DateTime.Utc,
  mode: Mode,
): ReadonlyArray<Event.Event> =>
  crossings.toSorted(inOrder).map((crossing, index) =>
    Event.make(usageThreshold, dataOf(crossing), mode, {
      id: EventId.make(Id.offset(EVENT_ID_PREFIX, lastRecordId, index * EVENT_STRIDE), {
        disableChecks: true,
      }),
      timestamp: at,
      customerId: crossing.threshold.customerId,
    }),
  )

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
