/**
 * Usage records as rows, whether from the columns of a query or from the JSON of a function.
 */
import { Customer, Dimensions, Id, UsageRecord } from "@billwright/core"
import { Statement } from "effect/sql"
import { millisColumn } from "../Millis.ts"
import { instant, instantOrNull, integer, json, type Row, text, textOrNull } from "../Row.ts"

/** The columns that `recordFromRow` reads. */
export const recordColumns = Statement.fragment([
  Statement.literal(
    `id::text, customer_id::text, product_id, unit, quantity::text, dimensions::text, idempotency_key, ${millisColumn("occurred_at")},
  ${millisColumn("voided_at")}, ${millisColumn("created_at")}`,
  ),
])

const customerId = (row: Row): Customer.CustomerId =>
  Id.fromUuid(Customer.CUSTOMER_ID_PREFIX, text(row, "customer_id")) as Customer.CustomerId

export const recordFromRow = (row: Row): UsageRecord.UsageRecord => ({
  id: Id.fromUuid(UsageRecord.USAGE_RECORD_ID_PREFIX, text(row, "id")) as UsageRecord.UsageRecordId,
  customerId: customerId(row),
  productId: text(row, "product_id"),
  quantity: integer(row, "quantity"),
  unit: text(row, "unit"),
  dimensions: Dimensions.orNone(json(row, "dimensions") as Dimensions.Dimensions | null),
  timestamp: instant(row, "occurred_at"),
  idempotencyKey: textOrNull(row, "idempotency_key"),
  voidedAt: instantOrNull(row, "voided_at"),
  createdAt: instant(row, "created_at"),
})
