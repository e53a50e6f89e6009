/**
 * The REST definitions of usage: records, summaries and series.
 */
import {
  Customer,
  Dimensions,
  MeterFields,
  TimeZone,
  UsagePeriod,
  UsageRecord,
  UsageSummary,
} from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const CustomerIdField = Customer.CustomerId.annotate({ description: "The customer whose usage it is." })
const ProductIdField = UsageRecord.ProductId.annotate({ description: "Your own id for the product." })
const UnitField = UsageRecord.Unit.annotate({
  description: "What the quantity counts, such as `call` or `byte`.",
})
const DimensionsField = Dimensions.Dimensions.annotate({
  description:
    "What else is known about the usage, such as the model of a language model: at most 8 names with a text each. `{}` when nothing was given.",
})
const QuantityField = UsageRecord.Quantity.annotate({ description: "The used quantity, in the unit." })

/** An upper limit for totals: the largest count of records, each with the largest quantity. */
const MAX_TOTAL = Number.MAX_SAFE_INTEGER * UsageRecord.MAX_QUANTITY

/** A total. It is an exact integer, and may be far beyond 2^53. */
const total = (description: string) =>
  Wire.exactInteger({
    minimum: 0,
    maximum: MAX_TOTAL,
    problem: "must be an integer",
    description: `${description} ${Wire.LARGE_INTEGERS}`,
  })

/** A usage record in an answer. */
export const UsageRecordBody = Schema.Struct({
  object: Schema.Literal("usage_record"),
  id: UsageRecord.UsageRecordId.annotate({ description: "The id of the record." }),
  customer_id: CustomerIdField,
  product_id: ProductIdField,
  quantity: QuantityField,
  unit: UnitField,
  dimensions: DimensionsField,
  timestamp: Wire.instant("When the usage happened."),
  idempotency_key: Schema.NullOr(UsageRecord.UsageKey).annotate({
    description:
      "A key that makes recording idempotent: a second request with the same key and content does not record again.",
  }),
  voided_at: Wire.instantOrNull("When the record was voided."),
  livemode: Schema.Boolean.annotate({ description: "`true` in live mode, `false` in test mode." }),
  created_at: Wire.instant("When the record arrived."),
}).annotate({
  identifier: "UsageRecord",
  description: "A quantity of a product that a customer used at an instant.",
})

const RecordBody = Schema.Struct({
  customerId: CustomerIdField,
  productId: ProductIdField,
  quantity: QuantityField,
  unit: UnitField,
  dimensions: Schema.optionalKey(DimensionsField),
  timestamp: Schema.optionalKey(
    Wire.instant("When the usage happened. Default: now. At most 5 minutes in the future."),
  ),
  idempotencyKey: Schema.optionalKey(
    UsageRecord.UsageKey.annotate({
      description:
        "Makes sure that the record is counted only once. A second request with the same key and content returns the first record. Keys never expire.",
    }),
  ),
})
  .pipe(
    Schema.encodeKeys({
      customerId: "customer_id",
      productId: "product_id",
      idempotencyKey: "idempotency_key",
    }),
  )
  .annotate({ identifier: "RecordUsage", description: "Usage to record." })

const batchMessage = { message: `must have 1 to ${UsageRecord.MAX_BATCH_RECORDS} records` }
const RecordBatchBody = Schema.Struct({
  records: Schema.Array(RecordBody)
    .check(Schema.isBetweenLength(1, UsageRecord.MAX_BATCH_RECORDS, batchMessage))
    .annotate({ description: "The records. Either all of them are stored or none." }),
}).annotate({ identifier: "RecordUsageBatch", description: "Up to 1,000 records." })

/** The result of a batch. */
export const UsageBatchBody = Schema.Struct({
  object: Schema.Literal("usage_batch"),
  recorded: Wire.Count.annotate({ description: "The number of new records." }),
  duplicates: Wire.Count.annotate({ description: "The number of records that had been recorded before." }),
  data: Schema.Array(
    Schema.Struct({
      id: UsageRecord.UsageRecordId.annotate({ description: "The id of the record." }),
      status: Schema.Literals(["recorded", "duplicate"]).annotate({
        description: "Whether the record is new, or had been recorded before.",
      }),
    }),
  )
    .check(Schema.isMaxLength(UsageRecord.MAX_BATCH_RECORDS))
    .annotate({ description: "One result for each record, in the order of the request." }),
}).annotate({ identifier: "UsageBatch", description: "The result of a batch." })

const MeterField = Schema.optionalKey(
  MeterFields.MeterKey.annotate({
    description:
      "The key of a meter. The answer is then the meter's value. A meter is of one product and unit, so `product_id` and `unit` can't be given with it.",
  }),
)
const WhereField = Schema.optionalKey(
  Wire.where(
    "Only records with these dimensions, each as `name:value`, such as `model:opus`. Needs a `meter` that declares them. Can be repeated: several values of one dimension are alternatives, and several dimensions must all match.",
  ),
)
const groupByField = (description: string) =>
  Schema.optionalKey(
    Schema.Array(MeterFields.DimensionName)
      .check(
        Schema.isBetweenLength(1, MeterFields.MAX_METER_DIMENSIONS, {
          message: `must be given at most ${MeterFields.MAX_METER_DIMENSIONS} times`,
        }),
      )
      .annotate({ description }),
  )

const DenominatorField = Wire.exactInteger({
  minimum: 1,
  maximum: UsageRecord.MAX_QUANTITY,
  problem: "must be an integer",
  description:
    "What to divide the quantity by. It is 1, except for a meter with the aggregation `time_weighted`: then it is the length of the period in milliseconds, and the quotient is the average level.",
})

const GroupDimensions = Schema.Record(Schema.String, Schema.NullOr(Dimensions.DimensionValue)).check(
  Schema.isMaxProperties(MeterFields.MAX_METER_DIMENSIONS),
  Schema.isPropertyNames(MeterFields.DimensionName),
)

const filterFields = {
  customerId: CustomerIdField,
  productId: Schema.optionalKey(UsageRecord.ProductId.annotate({ description: "Only this product." })),
  unit: Schema.optionalKey(UsageRecord.Unit.annotate({ description: "Only usage in this unit." })),
}
const filterKeys = { customerId: "customer_id", productId: "product_id" } as const
const dateKeys = { startDate: "start_date", endDate: "end_date" } as const

const TimezoneField = Schema.optionalKey(
  TimeZone.TimeZoneName.annotate({ description: "The IANA time zone of the days. Default UTC." }),
)

const SummaryQuery = Schema.Struct({
  ...filterFields,
  startDate: Schema.optionalKey(
    UsagePeriod.CalendarDate.annotate({
      description: "The first day, YYYY-MM-DD. Default: no lower limit.",
    }),
  ),
  endDate: Schema.optionalKey(
    UsagePeriod.CalendarDate.annotate({
      description: "The last day, YYYY-MM-DD, inclusive. Default: no upper limit.",
    }),
  ),
  timezone: TimezoneField,
  meter: MeterField,
  where: WhereField,
  groupBy: groupByField(
    "A dimension that the meter declares. Can be repeated. The answer then has `groups`, one for each combination of values that occurs.",
  ),
}).pipe(Schema.encodeKeys({ ...filterKeys, ...dateKeys, groupBy: "group_by" }))

const UsageGroupBody = Schema.Struct({
  dimensions: GroupDimensions.annotate({
    description:
      "The values of the dimensions that the summary is grouped by. `null` for records without the dimension.",
  }),
  total_quantity: total("The value of the group."),
  denominator: DenominatorField,
  record_count: Wire.Count.annotate({ description: "The number of records in the group." }),
}).annotate({ identifier: "UsageGroup", description: "The value of the records with the same dimensions." })

/** The total of a period. */
export const UsageSummaryBody = Schema.Struct({
  object: Schema.Literal("usage_summary"),
  customer_id: CustomerIdField,
  meter: Schema.NullOr(MeterFields.MeterKey).annotate({ description: "The meter of the request." }),
  product_id: Schema.NullOr(UsageRecord.ProductId).annotate({
    description: "The product of the request, or of its meter.",
  }),
  total_quantity: total(
    "The exact sum of the records that are not voided, or what the aggregation of the meter makes of them.",
  ),
  denominator: DenominatorField,
  unit: Schema.NullOr(UsageRecord.Unit).annotate({ description: "The unit of the total." }),
  record_count: Wire.Count.annotate({ description: "The number of records in the total." }),
  groups: Schema.optionalKey(
    Schema.Array(UsageGroupBody).check(Schema.isMaxLength(UsageSummary.MAX_SUMMARY_GROUPS)).annotate({
      description:
        "The values of the groups, in the order of their dimensions' values, `null` first. Only present with `group_by` in the request.",
    }),
  ),
  start_date: Schema.NullOr(UsagePeriod.CalendarDate).annotate({
    description: "The first day of the request.",
  }),
  end_date: Schema.NullOr(UsagePeriod.CalendarDate).annotate({
    description: "The last day of the request, inclusive.",
  }),
  timezone: TimeZone.TimeZoneName.annotate({ description: "The time zone of the days." }),
  period_start: Wire.instantOrNull("The instant at which the period starts."),
  period_end: Wire.instantOrNull("The instant at which the period ends, exclusive."),
}).annotate({ identifier: "UsageSummary", description: "The exact total of a customer's usage in one unit." })

const SeriesQuery = Schema.Struct({
  ...filterFields,
  startDate: UsagePeriod.CalendarDate.annotate({ description: "The first day, YYYY-MM-DD." }),
  endDate: UsagePeriod.CalendarDate.annotate({ description: "The last day, YYYY-MM-DD, inclusive." }),
  timezone: TimezoneField,
  window: UsagePeriod.Window.annotate({
    description: `The length of a window. At most ${UsagePeriod.MAX_WINDOWS} windows.`,
  }),
  meter: MeterField,
  where: WhereField,
  groupBy: groupByField(
    "With a meter, a dimension that it declares: returns one point for each combination of values in each window, and can be repeated. Without a meter, only `product_id`: returns one point for each product and unit in each window.",
  ),
}).pipe(Schema.encodeKeys({ ...filterKeys, ...dateKeys, groupBy: "group_by" }))

/** One point of a series. */
export const UsagePointBody = Schema.Struct({
  start: Wire.instant("The instant at which the window starts."),
  end: Wire.instant("The instant at which the window ends, exclusive."),
  product_id: Schema.optionalKey(
    UsageRecord.ProductId.annotate({
      description: "The product. Only present with `group_by`, `product_id` or `meter` in the request.",
    }),
  ),
  unit: Schema.NullOr(UsageRecord.Unit).annotate({ description: "The unit of the quantity." }),
  quantity: total("The exact total of the window."),
  denominator: DenominatorField,
  record_count: Wire.Count.annotate({ description: "The number of records in the total." }),
  dimensions: Schema.optionalKey(
    GroupDimensions.annotate({
      description:
        "The values of the dimensions that the series is grouped by. Only present in a series of a meter with `group_by`.",
    }),
  ),
}).annotate({ identifier: "UsagePoint", description: "The total of one window." })

const UsageSeriesBody = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(UsagePointBody)
    .check(Schema.isMaxLength(UsageSummary.MAX_SERIES_POINTS))
    .annotate({ description: "The points in time order. Windows without usage are included, with 0." }),
  has_more: Schema.Literal(false),
}).annotate({ identifier: "UsageSeries", description: "Totals of consecutive windows." })

const RecordsQuery = Schema.Struct({
  ...Wire.pageFields,
  ...filterFields,
  meter: MeterField,
  where: WhereField,
}).pipe(Schema.encodeKeys({ ...Wire.pageKeys, ...filterKeys }))

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the record." }) })

export const UsageApi = HttpApiGroup.make("usage")
  .add(
    HttpApiEndpoint.post("recordUsage", "/usage", {
      payload: RecordBody,
      success: [UsageRecordBody.pipe(HttpApiSchema.status(201)), UsageRecordBody],
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Record usage",
          description:
            "Records usage of a product by a customer. 201: the record is stored, and every later summary includes it. 200: a record with this `idempotency_key` and content already existed.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("recordUsageBatch", "/usage/batch", {
      payload: RecordBatchBody,
      success: UsageBatchBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Record usage in a batch",
          description:
            "Stores up to 1,000 records, either all of them or none. An error names the record, such as `records[3].quantity`. Two records with the same key and content count once. With different content, the batch is refused.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("summarizeUsage", "/usage", {
      query: SummaryQuery,
      success: UsageSummaryBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Summarize usage",
          description:
            "Returns the exact total of a customer's usage in a period. Quantities of different units are never added. If the customer has usage in several units, give a unit, a product or a meter. With a meter, the answer is the meter's value, which can be filtered and grouped by the dimensions that the meter declares.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listUsageSeries", "/usage/series", {
      query: SeriesQuery,
      success: UsageSeriesBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Chart usage",
          description: "Returns the totals of consecutive hours, days or months in the time zone.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listUsageRecords", "/usage/records", {
      query: RecordsQuery,
      success: Wire.list(UsageRecordBody, "UsageRecordList"),
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List usage records",
          description: "Lists a customer's usage records, newest first, including voided ones.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getUsageRecord", "/usage/records/:id", {
      params: Params,
      success: UsageRecordBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "Get a usage record", description: "Returns one usage record." }),
      ),
  )
  .add(
    HttpApiEndpoint.post("voidUsageRecord", "/usage/records/:id/void", {
      params: Params,
      success: UsageRecordBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Void a usage record",
          description:
            "Corrects a mistake: the record is kept, but its quantity no longer counts. Voiding it again returns the same answer. Its `idempotency_key` can't be used again.",
        }),
      ),
  )
  .annotateMerge(OpenApi.annotations({ title: "Usage", description: "Metered usage with exact totals." }))
