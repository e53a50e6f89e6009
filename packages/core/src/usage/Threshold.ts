/**
 * Usage thresholds: they publish an event when a customer's usage in a day, in a month or in total reaches a quantity.
 *
 * The rule of when a threshold fires is here (`crosses`). Stores apply it in the transaction of the record that reaches
 * the threshold.
 */
import { DateTime, Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as TooMany from "../shared/TooMany.ts"
import type { Period } from "./UsagePeriod.ts"
import { ProductId, Unit } from "./UsageRecord.ts"

/** The prefix of threshold ids. */
export const THRESHOLD_ID_PREFIX = "thr"
/** The most thresholds of one meter (customer, product, unit). All of them are checked at every write to the meter. */
export const MAX_THRESHOLDS_PER_METER = 100
/** The largest quantity of a threshold: 10^30. It is larger than 2^53, because totals can be. */
export const MAX_THRESHOLD_QUANTITY = 10n ** 30n

export const ThresholdId = Id.schema(THRESHOLD_ID_PREFIX).pipe(Schema.brand("ThresholdId"))
export type ThresholdId = typeof ThresholdId.Type

/** The period of a threshold's total: a UTC day, a UTC month, or all time. */
export const ThresholdPeriod = Schema.Literals(["day", "month", "lifetime"])
export type ThresholdPeriod = typeof ThresholdPeriod.Type

const QUANTITY_PROBLEM = "must be an integer from 1 to 10^30"

export const ThresholdQuantity = Schema.BigInt.check(
  Schema.isBetweenBigInt({ minimum: 1n, maximum: MAX_THRESHOLD_QUANTITY }, { message: QUANTITY_PROBLEM }),
)

const watched = {
  customerId: Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer whose usage is watched."),
  productId: Field.text(ProductId, "The product that is watched."),
  unit: Field.text(Unit, "The unit that is watched."),
  quantity: Field.integer(
    ThresholdQuantity,
    { minimum: 1n, maximum: MAX_THRESHOLD_QUANTITY, problem: QUANTITY_PROBLEM },
    "The total that fires the threshold: 1 to 10^30.",
  ),
  period: Field.text(ThresholdPeriod, "The period of the total: a UTC day, a UTC month, or all time."),
}

/** The definition of the resource; see `Resource`. */
export const thresholds = Resource.make({
  type: "UsageThreshold",
  noun: "usage threshold",
  short: "threshold",
  title: "Usage thresholds",
  description: "Publishes the event `usage.threshold` when a total reaches a quantity, once per period.",
  about: "Events for customers whose usage reaches a quantity.",
  path: "/usage/thresholds",
  scope: "usage",
  id: ThresholdId,
  prefix: THRESHOLD_ID_PREFIX,
  customer: "customerId",
  fields: { ...watched, lastFiredAt: Field.instantOrNull("When it last fired.") },
  times: { createdAt: Field.instant("When the threshold was created.") },
  create: watched,
  filters: {
    customerId: Field.optional(Field.saying(watched.customerId, "Only thresholds of this customer.")),
  },
  indexed: ["customerId", "productId", "unit"],
  operations: {
    create:
      "Watches a customer's usage of a product. The threshold fires exactly once per period, with the record that reaches its quantity. Voiding records doesn't undo that.",
    remove: { verb: "Delete", past: "deleted", description: "It won't fire again." },
  },
  example: {
    id: "thr_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    product_id: "api",
    unit: "call",
    quantity: 10000,
    period: "month",
    last_fired_at: null,
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A threshold. `lastFiredAt` is the instant of its last firing, in any of its periods. */
export const Threshold = thresholds.Value
export interface Threshold extends Schema.Schema.Type<typeof Threshold> {}

export const CreateThreshold = thresholds.Create
export interface CreateThreshold extends Schema.Schema.Type<typeof CreateThreshold> {}

/** Which thresholds to list. */
export const ListThresholds = thresholds.List
export interface ListThresholds extends Schema.Schema.Type<typeof ListThresholds> {}

/** The tenant has no threshold with this id. */
export const ThresholdNotFound = thresholds.NotFound
export type ThresholdNotFound = InstanceType<typeof ThresholdNotFound>

/** The meter already has `MAX_THRESHOLDS_PER_METER` thresholds. */
export class TooManyThresholds extends TooMany.make(
  "TooManyThresholds",
  MAX_THRESHOLDS_PER_METER,
  "thresholds for this customer, product and unit",
) {}

/** One firing: a threshold was reached in one of its periods. */
export interface ThresholdCrossing {
  readonly threshold: Threshold
  /** Which of the threshold's periods: `2026-11-21`, `2026-11`, or `lifetime`. */
  readonly periodKey: string
  /** The total of the period after the append that reached the threshold. */
  readonly total: bigint
}

/** The name of the period that an instant is in: `2026-11-21`, `2026-11` or `lifetime`. */
export const periodKey = (period: ThresholdPeriod, at: DateTime.Utc): string => {
  switch (period) {
    case "day":
      return DateTime.formatIsoDateUtc(at)
    case "month":
      return DateTime.formatIsoDateUtc(at).slice(0, -3)
    case "lifetime":
      return "lifetime"
  }
}

/** The start and end of the period that an instant is in. */
export const periodOf = (period: ThresholdPeriod, at: DateTime.Utc): Period => {
  if (period === "lifetime") return { start: undefined, end: undefined }
  const start = DateTime.startOf(at, period)
  const end = DateTime.add(start, period === "day" ? { days: 1 } : { months: 1 })
  return { start: start.epochMilliseconds, end: end.epochMilliseconds }
}

/**
 * Whether a threshold fires: the total of the period after an append is at or above its quantity, and it has not fired
 * for that period before.
 *
 * So a threshold fires exactly once per period. It stays fired when a void takes the total below the quantity, and it
 * does not fire again when the total rises again. A late record can fire it for an old period. A threshold that is
 * created when the total is already high enough fires with the next record of the period.
 */
export const crosses = (state: {
  readonly quantity: bigint
  readonly total: bigint
  readonly hasFired: boolean
}): boolean => !state.hasFired && state.total >= state.quantity
