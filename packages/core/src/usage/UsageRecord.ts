/**
 * A usage record: a quantity of a product, in a unit, that a customer used at an instant.
 *
 * Records are append-only. To correct one, void it (the record stays, its quantity no longer counts) and add a new
 * record. The pair of product and unit is the *meter*. Quantities of different units are never added.
 */
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as Id from "../shared/Id.ts"
import * as NotFound from "../shared/NotFound.ts"
import { pageFields } from "../shared/Page.ts"
import * as Text from "../shared/Text.ts"
import * as Dimensions from "./Dimensions.ts"
import { meterFields } from "./MeterFields.ts"

/** The prefix of usage record ids. */
export const USAGE_RECORD_ID_PREFIX = "usg"
/** Longest product id, in code points. */
export const MAX_PRODUCT_ID_LENGTH = 255
/** Longest unit, in code points. */
export const MAX_UNIT_LENGTH = 64
/** Longest idempotency key of a record, in code points. */
export const MAX_USAGE_KEY_LENGTH = 255
/** Largest quantity of one record: 2^53 − 1, the largest integer that every JSON parser keeps. Totals have no limit. */
export const MAX_QUANTITY = Number.MAX_SAFE_INTEGER
/** Most records of one batch. */
export const MAX_BATCH_RECORDS = 1000
/** How far a timestamp may be ahead of this machine's clock: 5 minutes, because clocks differ. */
export const MAX_FUTURE_MILLIS = 5 * 60_000
/** The earliest timestamp of a record: 0001-01-01T00:00:00Z. */
export const MIN_TIMESTAMP_MILLIS = -62_135_596_800_000

export const UsageRecordId = Id.schema(USAGE_RECORD_ID_PREFIX).pipe(Schema.brand("UsageRecordId"))
export type UsageRecordId = typeof UsageRecordId.Type

export const ProductId = Text.bounded(1, MAX_PRODUCT_ID_LENGTH)
export const Unit = Text.bounded(1, MAX_UNIT_LENGTH)
export const UsageKey = Text.bounded(1, MAX_USAGE_KEY_LENGTH)

const quantityMessage = { message: `must be an integer from 0 to ${MAX_QUANTITY}` }
/** An amount in the record's unit: an integer from 0 to 2^53 − 1. */
export const Quantity = Schema.Number.annotate(quantityMessage).check(
  Schema.isInt(quantityMessage),
  Schema.isBetween({ minimum: 0, maximum: MAX_QUANTITY }, quantityMessage),
)

export const UsageRecord = Schema.Struct({
  id: UsageRecordId,
  customerId: CustomerId,
  productId: ProductId,
  quantity: Quantity,
  unit: Unit,
  /** What else is known about the usage, such as the model of a language model. `{}` when nothing was given. */
  dimensions: Dimensions.Dimensions,
  /** When the usage happened. The record counts in the period of this instant, however late it arrives. */
  timestamp: Schema.DateTimeUtc,
  /** A retry with the same key gives this record. Unique for the customer, and never expires. */
  idempotencyKey: Schema.NullOr(UsageKey),
  /** When the record was voided. The quantity of a voided record doesn't count. */
  voidedAt: Schema.NullOr(Schema.DateTimeUtc),
  /** When the record was stored. */
  createdAt: Schema.DateTimeUtc,
})
export interface UsageRecord extends Schema.Schema.Type<typeof UsageRecord> {}

/** The input of `Usage.record`. The default `timestamp` is now, and by default there are no dimensions. */
export const RecordUsage = Schema.Struct({
  customerId: CustomerId,
  productId: ProductId,
  quantity: Quantity,
  unit: Unit,
  dimensions: Schema.optionalKey(Dimensions.Dimensions),
  timestamp: Schema.optionalKey(Schema.DateTimeUtc),
  idempotencyKey: Schema.optionalKey(UsageKey),
})
export interface RecordUsage extends Schema.Schema.Type<typeof RecordUsage> {}

const batchMessage = { message: `must have 1 to ${MAX_BATCH_RECORDS} records` }
export const RecordUsageBatch = Schema.Struct({
  records: Schema.Array(RecordUsage).check(Schema.isBetweenLength(1, MAX_BATCH_RECORDS, batchMessage)),
})
export interface RecordUsageBatch extends Schema.Schema.Type<typeof RecordUsageBatch> {}

/** Which records of a customer to list. */
export const ListUsageRecords = Schema.Struct({
  ...pageFields,
  ...meterFields,
  customerId: CustomerId,
  productId: Schema.optionalKey(ProductId),
  unit: Schema.optionalKey(Unit),
})
export interface ListUsageRecords extends Schema.Schema.Type<typeof ListUsageRecords> {}

/**
 * The result of recording. `Recorded`: the call stored the record. `Duplicate`: the idempotency key was used before with
 * the same content, and `record` is the record of the first call.
 */
export type Recorded =
  | { readonly _tag: "Recorded"; readonly record: UsageRecord }
  | { readonly _tag: "Duplicate"; readonly record: UsageRecord }

/**
 * A record before it is stored. `hasOwnTimestamp` says whether the caller gave the timestamp. Only a given timestamp is
 * part of the content that a duplicate must repeat.
 */
export interface NewUsageRecord extends UsageRecord {
  readonly hasOwnTimestamp: boolean
}

/** Whether two records with the same key have the same content. */
export const isSameContent = (first: UsageRecord, repeat: NewUsageRecord): boolean =>
  first.productId === repeat.productId &&
  first.unit === repeat.unit &&
  first.quantity === repeat.quantity &&
  Dimensions.isSame(first.dimensions, repeat.dimensions) &&
  (!repeat.hasOwnTimestamp || first.timestamp.epochMilliseconds === repeat.timestamp.epochMilliseconds)

/** The tenant has no record with this id. */
export class UsageRecordNotFound extends NotFound.make("UsageRecordNotFound", "usage record") {}

/** The idempotency key was used before with other content. Nothing was stored or changed. */
export class UsageKeyConflict extends Schema.TaggedError<UsageKeyConflict>()(
  "UsageKeyConflict",
  {
    /** The field of the input that holds the key: `idempotencyKey` or `records[3].idempotencyKey`. */
    field: Schema.String,
    /** The id of the record that already has the key. */
    recordId: UsageRecordId,
  },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `${this.field} was already used with other content, by ${this.recordId}`
  }
}
