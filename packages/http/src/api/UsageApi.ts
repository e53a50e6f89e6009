/**
 * The REST definitions of usage: records, summaries, series.
 */
import { Customer, UsagePeriod, UsageRecord, UsageSummary } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const CustomerIdField = Customer.CustomerId.annotate({ description: "The customer whose usage it is." })
const ProductIdField = UsageRecord.ProductId.annotate({ description: "Your name of what was used." })
const UnitField = UsageRecord.Unit.annotate({
  description: "What the quantity counts, such as `call` or `byte`.",
})
const QuantityField = UsageRecord.Quantity.annotate({ description: "How much was used, in the unit." })

/** What no total comes to: as many records as a count can say, each of the largest quantity. */
const MAX_TOTAL = Number.MAX_SAFE_INTEGER * UsageRecord.MAX_QUANTITY

/** A total: an exact integer, far beyond 2^53. */
const total = (description: string) =>
  Wire.exactInteger({
    minimum: 0,
    maximum: MAX_TOTAL,
    problem: "must be an integer",
    description: `${description} ${Wire.LARGE_INTEGERS}`,
  })

/** A usage record as it is answered. */
export const UsageRecordBody = Schema.Struct({
  object: Schema.Literal("usage_record"),
  id: UsageRecord.UsageRecordId.annotate({ description: "The id of the record." }),
  customer_id: CustomerIdField,
  product_id: ProductIdField,
  quantity: QuantityField,
  unit: UnitField,
  timestamp: Wire.instant("When the usage happened."),
  idempotency_key: Schema.NullOr(UsageRecord.UsageKey).annotate({
    description: "What makes a repeat the same record.",
  }),
  voided_at: Wire.instantOrNull("When the record was voided."),
  livemode: Schema.Boolean.annotate({ description: "Whether this is live, or of the test mode." }),
  created_at: Wire.instant("When the record arrived."),
}).annotate({
  identifier: "UsageRecord",
  description: "So much of a product, used by a customer at an instant.",
})

const RecordBody = Schema.Struct({
  customerId: CustomerIdField,
  productId: ProductIdField,
  quantity: QuantityField,
  unit: UnitField,
  timestamp: Schema.optionalKey(
    Wire.instant("When it was used: now when left out, at most 5 minutes ahead."),
  ),
  idempotencyKey: Schema.optionalKey(
    UsageRecord.UsageKey.annotate({
      description: "Counts the record once: the same key and content again gives the first record, for ever.",
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
    .annotate({ description: "The records, stored all or not at all." }),
}).annotate({ identifier: "RecordUsageBatch", description: "Up to 1,000 records." })

/** What became of a batch. */
export const UsageBatchBody = Schema.Struct({
  object: Schema.Literal("usage_batch"),
  recorded: Wire.Count.annotate({ description: "How many records are new." }),
  duplicates: Wire.Count.annotate({ description: "How many had been recorded before." }),
  data: Schema.Array(
    Schema.Struct({
      id: UsageRecord.UsageRecordId.annotate({ description: "The id of the record." }),
      status: Schema.Literals(["recorded", "duplicate"]).annotate({
        description: "Whether the record is new, or had been recorded before.",
      }),
    }),
  )
    .check(Schema.isMaxLength(UsageRecord.MAX_BATCH_RECORDS))
    .annotate({ description: "One for each record, in the order given." }),
}).annotate({ identifier: "UsageBatch", description: "What became of a batch." })

const filterFields = {
  customerId: CustomerIdField,
  productId: Schema.optionalKey(UsageRecord.ProductId.annotate({ description: "Only this product." })),
  unit: Schema.optionalKey(UsageRecord.Unit.annotate({ description: "Only usage in this unit." })),
}
const filterKeys = { customerId: "customer_id", productId: "product_id" } as const
const dateKeys = { startDate: "start_date", endDate: "end_date" } as const

const TimezoneField = Schema.optionalKey(
  UsagePeriod.TimeZoneName.annotate({ description: "The IANA time zone that the days are in. Default UTC." }),
)

const SummaryQuery = Schema.Struct({
  ...filterFields,
  startDate: Schema.optionalKey(
    UsagePeriod.CalendarDate.annotate({
      description: "The first day, YYYY-MM-DD. From the beginning when left out.",
    }),
  ),
  endDate: Schema.optionalKey(
    UsagePeriod.CalendarDate.annotate({
      description: "The last day, YYYY-MM-DD, inclusive. Up to now when left out.",
    }),
  ),
  timezone: TimezoneField,
}).pipe(Schema.encodeKeys({ ...filterKeys, ...dateKeys }))

/** The total of a period. */
export const UsageSummaryBody = Schema.Struct({
  object: Schema.Literal("usage_summary"),
  customer_id: CustomerIdField,
  product_id: Schema.NullOr(UsageRecord.ProductId).annotate({
    description: "The product that was asked for.",
  }),
  total_quantity: total("The exact sum of the records that are not voided."),
  unit: Schema.NullOr(UsageRecord.Unit).annotate({ description: "The unit of the total." }),
  record_count: Wire.Count.annotate({ description: "How many records the total is made of." }),
  start_date: Schema.NullOr(UsagePeriod.CalendarDate).annotate({ description: "The first day, as asked." }),
  end_date: Schema.NullOr(UsagePeriod.CalendarDate).annotate({
    description: "The last day, as asked, inclusive.",
  }),
  timezone: UsagePeriod.TimeZoneName.annotate({ description: "The time zone of the days." }),
  period_start: Wire.instantOrNull("The instant the period starts at."),
  period_end: Wire.instantOrNull("The instant the period ends before."),
}).annotate({ identifier: "UsageSummary", description: "The exact total of a customer's usage in one unit." })

const SeriesQuery = Schema.Struct({
  ...filterFields,
  startDate: UsagePeriod.CalendarDate.annotate({ description: "The first day, YYYY-MM-DD." }),
  endDate: UsagePeriod.CalendarDate.annotate({ description: "The last day, YYYY-MM-DD, inclusive." }),
  timezone: TimezoneField,
  window: UsagePeriod.Window.annotate({
    description: `How wide the windows are. At most ${UsagePeriod.MAX_WINDOWS} windows.`,
  }),
  groupBy: Schema.optionalKey(
    Schema.Literal("product_id").annotate({
      description: "One point for each product and unit of each window.",
    }),
  ),
}).pipe(Schema.encodeKeys({ ...filterKeys, ...dateKeys, groupBy: "group_by" }))

/** One point of a series. */
export const UsagePointBody = Schema.Struct({
  start: Wire.instant("The instant the window starts at."),
  end: Wire.instant("The instant the window ends before."),
  product_id: Schema.optionalKey(
    UsageRecord.ProductId.annotate({ description: "The product, when grouped or asked for." }),
  ),
  unit: Schema.NullOr(UsageRecord.Unit).annotate({ description: "The unit of the quantity." }),
  quantity: total("The exact total of the window."),
  record_count: Wire.Count.annotate({ description: "How many records the total is made of." }),
}).annotate({ identifier: "UsagePoint", description: "The total of one window." })

const UsageSeriesBody = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(UsagePointBody)
    .check(Schema.isMaxLength(UsageSummary.MAX_SERIES_POINTS))
    .annotate({ description: "In time order; windows without usage are there, with 0." }),
  has_more: Schema.Literal(false),
}).annotate({ identifier: "UsageSeries", description: "Totals of consecutive windows." })

const RecordsQuery = Schema.Struct({ ...Wire.pageFields, ...filterFields }).pipe(
  Schema.encodeKeys({ ...Wire.pageKeys, ...filterKeys }),
)

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
            "Records usage of a product by a customer. 201: recorded, and counted in every summary from now on. 200: a record with this idempotency_key and content was there already.",
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
            "Records up to 1,000 records, all or nothing. An error names the record: `records[3].quantity`. Two records of one key count once; with different content they are refused.",
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
            "Gives the exact total of a customer's usage in a period. Quantities of different units are never added: with usage in several units, name a unit or a product.",
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
          description: "Gives the totals of consecutive hours, days or months of the time zone.",
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
          description: "Lists a customer's usage records, newest first, voided ones included.",
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
        OpenApi.annotations({ summary: "Get a usage record", description: "Gives one usage record." }),
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
            "Corrects a mistake: the record stays, its quantity no longer counts. Voiding again gives the same answer. Its idempotency_key stays used.",
        }),
      ),
  )
  .annotateMerge(OpenApi.annotations({ title: "Usage", description: "Metered usage and its exact totals." }))
