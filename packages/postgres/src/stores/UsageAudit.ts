/**
 * The audit: compares every roll-up of a tenant with its records.
 */
import { CurrentTenant, Customer, Id, type StorageError, type UsageDiscrepancy } from "@billwright/core"
import { Effect } from "effect"
import type { DatabaseService } from "../Database.ts"
import { bigint, decoding, integer, type Row, text } from "../Row.ts"

const OPERATION = "UsageStore.audit"

/** One statement, so one snapshot: appends may go on at the same time. It may take minutes, and has no deadline. */
export const make = ({
  tables: t,
  unbounded,
}: DatabaseService): Effect.Effect<ReadonlyArray<UsageDiscrepancy>, StorageError, CurrentTenant> =>
  Effect.flatMap(CurrentTenant, ({ accountId, mode }) =>
    unbounded(
      OPERATION,
      (sql) =>
        sql<Row>`select customer_id::text, product_id, unit, to_char(day, 'YYYY-MM-DD') as day,
  coalesce(r.quantity, 0)::text as records_quantity, coalesce(r.record_count, 0)::text as records_count,
  coalesce(d.quantity, 0)::text as rollup_quantity, coalesce(d.record_count, 0)::text as rollup_count
from (
  select customer_id, product_id, unit, (occurred_at at time zone 'UTC')::date as day, sum(quantity) as quantity,
    count(*) as record_count
  from ${t.usage_records} where account_id = ${accountId} and mode = ${mode} and voided_at is null
  group by 1, 2, 3, 4
) as r full join (
  select customer_id, product_id, unit, day, quantity, record_count
  from ${t.usage_daily} where account_id = ${accountId} and mode = ${mode}
) as d using (customer_id, product_id, unit, day)
where coalesce(r.quantity, 0) <> coalesce(d.quantity, 0) or coalesce(r.record_count, 0) <> coalesce(d.record_count, 0)
order by customer_id, product_id, unit, day`,
    ),
  ).pipe(Effect.flatMap(decoding(OPERATION, (rows: ReadonlyArray<Row>) => rows.map(fromRow))))

const fromRow = (row: Row): UsageDiscrepancy => ({
  customerId: Id.fromUuid(Customer.CUSTOMER_ID_PREFIX, text(row, "customer_id")) as Customer.CustomerId,
  productId: text(row, "product_id"),
  unit: text(row, "unit"),
  day: text(row, "day"),
  recordsQuantity: bigint(row, "records_quantity"),
  recordsCount: integer(row, "records_count"),
  rollupQuantity: bigint(row, "rollup_quantity"),
  rollupCount: integer(row, "rollup_count"),
})
