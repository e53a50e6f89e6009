/**
 * Usage thresholds: "tell me when this customer has used so much in a day, in a month, ever".
 *
 * The crossing rule is pure and lives here; stores apply it in the transaction of the record that crosses.
 */
import { DateTime, Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import type { Period } from "./UsagePeriod.ts"
import { ProductId, Unit } from "./UsageRecord.ts"

/** The prefix of threshold ids. */
export const THRESHOLD_ID_PREFIX = "thr"
/** Most thresholds of one meter (customer, product, unit): each is checked whenever the meter is written. */
export const MAX_THRESHOLDS_PER_METER = 100
/** Largest threshold: 10^30. Totals go beyond 2^53, so thresholds may. */
export const MAX_THRESHOLD_QUANTITY = 10n ** 30n

export const ThresholdId = Id.schema(THRESHOLD_ID_PREFIX).pipe(Schema.brand("ThresholdId"))
export type ThresholdId = typeof ThresholdId.Type

/** What a threshold's total is counted over: a UTC day, a UTC month, or all time. */
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
  period: Field.text(ThresholdPeriod, "What the total is counted over: a UTC day, a UTC month, or all time."),
}

/** The resource: see `Resource`. */
export const thresholds = Resource.make({
  type: "UsageThreshold",
  noun: "usage threshold",
  short: "threshold",
  title: "Usage thresholds",
  description: "Fires once a period, when the total reaches the quantity.",
  about: "Be told when a customer has used so much.",
  path: "/usage/thresholds",
  scope: "usage",
  id: ThresholdId,
  prefix: THRESHOLD_ID_PREFIX,
  customer: "customerId",
  fields: { ...watched, lastFiredAt: Field.instantOrNull("When it last fired.") },
  times: { createdAt: Field.instant("When the threshold was created.") },
  create: watched,
  filters: { customerId: Field.optional(Field.saying(watched.customerId, "Only this customer's.")) },
  indexed: ["customerId", "productId", "unit"],
  operations: {
    create:
      "Watches a customer's usage of a product. It fires exactly once for each period, with the record that reaches it; voiding records never un-fires it.",
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

/** A threshold. `lastFiredAt` is when it last fired, for any of its periods. */
export const Threshold = thresholds.Value
export interface Threshold extends Schema.Schema.Type<typeof Threshold> {}

export const CreateThreshold = thresholds.Create
export interface CreateThreshold extends Schema.Schema.Type<typeof CreateThreshold> {}

/** Which thresholds to list. */
export const ListThresholds = thresholds.List
export interface ListThresholds extends Schema.Schema.Type<typeof ListThresholds> {}

/** There is no such threshold for this tenant. */
export class ThresholdNotFound extends Schema.TaggedError<ThresholdNotFound>()(
  "ThresholdNotFound",
  { id: Schema.String },
  { httpApiStatus: 404 },
) {
  override get message(): string {
    return `no usage threshold has the id ${this.id}`
  }
}

/** The meter has as many thresholds as it may have. */
export class TooManyThresholds extends Schema.TaggedError<TooManyThresholds>()(
  "TooManyThresholds",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `this customer, product and unit already has ${MAX_THRESHOLDS_PER_METER} thresholds`
  }
}

/** One firing: a threshold was reached in one of its periods. */
export interface ThresholdCrossing {
  readonly threshold: Threshold
  /** Which of the threshold's periods: `2026-11-21`, `2026-11`, or `lifetime`. */
  readonly periodKey: string
  /** The total of the period at the end of the append that crossed. */
  readonly total: bigint
}

/** Names the period of a threshold that an instant lies in: `2026-11-21`, `2026-11` or `lifetime`. */
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

/** The instants of the period of a threshold that an instant lies in. */
export const periodOf = (period: ThresholdPeriod, at: DateTime.Utc): Period => {
  if (period === "lifetime") return { start: undefined, end: undefined }
  const start = DateTime.startOf(at, period)
  const end = DateTime.add(start, period === "day" ? { days: 1 } : { months: 1 })
  return { start: start.epochMilliseconds, end: end.epochMilliseconds }
}

/**
 * The crossing rule: a threshold fires when an append leaves the total of the period at or above its quantity
 * and it has not fired for that period before.
 *
 * So it fires exactly once a period: a void that takes the total back below never un-fires it, reaching it
 * again does not fire it again, and a late record for an old period can fire that period's. A threshold that
 * is created when the total is already there fires with the next record of the period.
 */
export const crosses = (state: {
  readonly quantity: bigint
  readonly total: bigint
  readonly hasFired: boolean
}): boolean => !state.hasFired && state.total >= state.quantity
