/**
 * The `usage.threshold` event of a firing.
 */
import { type DateTime, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as Event from "../events/Event.ts"
import { EVENT_ID_PREFIX, EventId } from "../events/EventId.ts"
import * as EventType from "../events/EventType.ts"
import * as Id from "../shared/Id.ts"
import type { Mode } from "../shared/Tenant.ts"
import * as Text from "../shared/Text.ts"
import { type ThresholdCrossing, ThresholdId, ThresholdPeriod } from "./Threshold.ts"
import { ProductId, Unit, type UsageRecordId } from "./UsageRecord.ts"

const isWireInteger = (value: unknown): boolean => typeof value === "bigint" || Number.isSafeInteger(value)
/** A total may be larger than what a double holds, so both forms of an integer are taken. JSON has one for them. */
const WireInteger = Schema.Any.check(
  Schema.makeFilter(isWireInteger, {
    message: "must be an integer",
    toJsonSchema: () => ({ type: "integer" }),
  }),
)

/** A usage threshold was reached. Published by the record that reaches it, in its transaction. */
export const usageThreshold = EventType.make({
  name: "usage.threshold",
  description: "A customer's usage reached a threshold in one of its periods.",
  data: Schema.Struct({
    threshold_id: ThresholdId,
    customer_id: CustomerId,
    product_id: ProductId,
    unit: Unit,
    /** The threshold. */
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
