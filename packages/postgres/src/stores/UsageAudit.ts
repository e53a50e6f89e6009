/**
 * The audit: compares every roll-up of a tenant, and every cell of its meters, with the records.
 */
import {
  Aggregation,
  CurrentTenant,
  Customer,
  Id,
  type StorageError,
  type UsageDiscrepancy,
} from "@billwright/core"
import { Effect } from "effect"
import type { DatabaseService } from "../Database.ts"
import { bigint, decoding, integer, json, type Row, text } from "../Row.ts"
import { stateColumns, stateFromRow } from "./MeterRow.ts"

const OPERATION = "UsageStore.audit"

/** Each is one statement, so one snapshot: appends may go on at the same time. They may take minutes, and have no deadline. */
export const make = (
  database: DatabaseService,
): Effect.Effect<ReadonlyArray<UsageDiscrepancy>, StorageError, CurrentTenant> =>
  Effect.flatMap(totals(database), (found) => Effect.map(cells(database), (others) => [...found, ...others]))

type Found = Effect.Effect<ReadonlyArray<UsageDiscrepancy>, StorageError, CurrentTenant>

const totals = ({ tables: t, unbounded }: DatabaseService): Found =>
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

const CELL = "record_count, quantity, first_at, last_at, last_key, last_id, last_quantity"
const stateOf = (alias: string): string =>
  CELL.split(", ")
    .map((column) => `${alias}.${column}`)
    .join(", ")

/** The cells that answer queries. `measure_usage` reads those of a day from the records. */
const cells = ({ tables: t, unbounded }: DatabaseService): Found =>
  Effect.flatMap(CurrentTenant, ({ accountId, mode }) =>
    unbounded(
      OPERATION,
      (sql) =>
        sql<Row>`select r.meter_key, r.product_id, r.unit, x.customer_id::text, to_char(x.day, 'YYYY-MM-DD') as day,
  to_json(x.combination)::text as combination, ${stateColumns(sql, "(x.records)", "records_")},
  ${stateColumns(sql, "(x.cells)", "rollup_")}
from (select r from ${t.meter_rollups} r where account_id = ${accountId} and mode = ${mode} and not is_building) as g,
lateral (select (g.r).*) as r, lateral (
  select customer_id, day, combination, e as records, c as cells
  from (
    select m.customer_id, d.day, m.combination, ${sql.literal(stateOf("m"))}
    from ${t.usage_daily} d, lateral ${t.measure_usage}(g.r, array[d.customer_id],
      array[d.day::timestamp at time zone 'UTC'], array[(d.day + 1)::timestamp at time zone 'UTC']) as m
    where d.account_id = ${accountId} and d.mode = ${mode} and d.product_id = r.product_id and d.unit = r.unit offset 0
  ) as e full join (
    select c.customer_id, c.day, c.combination, ${sql.literal(stateOf("c"))}
    from ${t.meter_cells} c where c.account_id = ${accountId} and c.mode = ${mode} and c.meter_id = r.meter_id
      and c.generation = r.generation offset 0
  ) as c using (customer_id, day, combination)
  where (${sql.literal(stateOf("e"))}) is distinct from (${sql.literal(stateOf("c"))})
) as x order by r.meter_key, x.customer_id, x.day, x.combination`,
    ),
  ).pipe(Effect.flatMap(decoding(OPERATION, (rows: ReadonlyArray<Row>) => rows.map(fromCell))))

const fromCell = (row: Row): UsageDiscrepancy => {
  const [records, rollup] = [stateFromRow(row, "records_"), stateFromRow(row, "rollup_")]
  return {
    customerId: Id.fromUuid(Customer.CUSTOMER_ID_PREFIX, text(row, "customer_id")) as Customer.CustomerId,
    meterKey: text(row, "meter_key"),
    combination: json(row, "combination") as ReadonlyArray<string | null>,
    productId: text(row, "product_id"),
    unit: text(row, "unit"),
    day: text(row, "day"),
    recordsQuantity: Aggregation.quantityOf(records),
    recordsCount: records.recordCount,
    rollupQuantity: Aggregation.quantityOf(rollup),
    rollupCount: rollup.recordCount,
  }
}

const fromRow = (row: Row): UsageDiscrepancy => ({
  customerId: Id.fromUuid(Customer.CUSTOMER_ID_PREFIX, text(row, "customer_id")) as Customer.CustomerId,
  productId: text(row, "product_id"),
  unit: text(row, "unit"),
  meterKey: null,
  combination: null,
  day: text(row, "day"),
  recordsQuantity: bigint(row, "records_quantity"),
  recordsCount: integer(row, "records_count"),
  rollupQuantity: bigint(row, "rollup_quantity"),
  rollupCount: integer(row, "rollup_count"),
})
