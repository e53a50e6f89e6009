/**
 * The part of the `UsageStore` that keeps thresholds. Firing them is part of `append_usage`.
 */
import { CurrentTenant, type Customer, Id, type Page, Threshold, type Transactor } from "@billwright/core"
import { Effect, Option } from "effect"
import { noteXid } from "../CurrentTransaction.ts"
import type { DatabaseService } from "../Database.ts"
import { clauses, cursorOf, pageOf, requireCursor } from "../Paging.ts"
import { decoding, integer, type Row } from "../Row.ts"
import { thresholdColumns, thresholdFromRow } from "./UsageRow.ts"

export const make = ({ read, tables: t, write }: DatabaseService, transactor: Transactor["Service"]) => {
  const insertThreshold = Effect.fnUntraced(function* (threshold: Threshold.Threshold) {
    const operation = "UsageStore.insertThreshold"
    const { accountId, mode } = yield* CurrentTenant
    const customer = Id.toUuid(threshold.customerId)
    const insert = Effect.gen(function* () {
      // Held until commit: others that insert for the customer wait here, and so count what this one inserts; and so
      // do appends, so that none commits after this threshold without having looked at it.
      yield* write(
        operation,
        (sql) =>
          sql<Row>`select 1 from ${t.customers}
where account_id = ${accountId} and mode = ${mode} and id = ${customer}::uuid for update`,
      )
      const counted = yield* read(
        operation,
        (sql) =>
          sql<Row>`select count(*)::text as count from ${t.usage_thresholds}
where account_id = ${accountId} and mode = ${mode} and customer_id = ${customer}::uuid
  and product_id = ${threshold.productId} and unit = ${threshold.unit}`,
      )
      const count = yield* decoding(operation, (row: Row) => integer(row, "count"))(counted[0] ?? {})
      if (count >= Threshold.MAX_THRESHOLDS_PER_METER) return false
      const lastFiredAt =
        threshold.lastFiredAt === null ? null : String(threshold.lastFiredAt.epochMilliseconds)
      const rows = yield* write(
        operation,
        (sql) =>
          sql<Row>`with counted as (
  update ${t.customers} set threshold_count = threshold_count + 1
  where account_id = ${accountId} and mode = ${mode} and id = ${customer}::uuid
)
insert into ${t.usage_thresholds}
  (account_id, mode, id, customer_id, product_id, unit, quantity, period, created_at, last_fired_at)
values (${accountId}, ${mode}, ${Id.toUuid(threshold.id)}::uuid, ${customer}::uuid, ${threshold.productId},
  ${threshold.unit}, ${String(threshold.quantity)}::numeric, ${threshold.period},
  to_timestamp(${String(threshold.createdAt.epochMilliseconds)}::float8 / 1000),
  to_timestamp(${lastFiredAt}::float8 / 1000))
returning pg_current_xact_id_if_assigned()::text as xid`,
      )
      yield* noteXid(rows[0]?.xid)
      return true
    })
    return yield* transactor.atomically(insert)
  })

  const findThreshold = Effect.fnUntraced(function* (id: Threshold.ThresholdId) {
    const operation = "UsageStore.findThreshold"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${thresholdColumns} from ${t.usage_thresholds}
where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid`,
    )
    return yield* decoding(operation, (row: Row | undefined) =>
      Option.map(Option.fromUndefinedOr(row), thresholdFromRow),
    )(rows[0])
  })

  const deleteThreshold = Effect.fnUntraced(function* (id: Threshold.ThresholdId) {
    const { accountId, mode } = yield* CurrentTenant
    const remove = Effect.gen(function* () {
      const rows = yield* write(
        "UsageStore.deleteThreshold",
        (sql) =>
          sql<Row>`with deleted as (
  delete from ${t.usage_thresholds}
  where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid returning customer_id
), counted as (
  update ${t.customers} c set threshold_count = c.threshold_count - 1 from deleted d
  where c.account_id = ${accountId} and c.mode = ${mode} and c.id = d.customer_id
)
select pg_current_xact_id_if_assigned()::text as xid from deleted`,
      )
      yield* noteXid(rows[0]?.xid)
      return rows.length > 0
    })
    // A transaction, because a repeat of the statement alone could not tell its own work from another's.
    return yield* transactor.atomically(remove)
  })

  const listThresholds = Effect.fnUntraced(function* (
    filter: { readonly customerId: Customer.CustomerId | undefined },
    page: Page.PageQuery,
  ) {
    const operation = "UsageStore.listThresholds"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorOf(Threshold.THRESHOLD_ID_PREFIX, page)
    yield* requireCursor(page, cursor, (uuid) =>
      read(
        operation,
        (sql) =>
          sql<Row>`select 1 from ${t.usage_thresholds}
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid`,
      ),
    )
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(operation, (sql) => {
      const ofCustomer =
        filter.customerId === undefined
          ? sql.literal("")
          : sql`and customer_id = ${Id.toUuid(filter.customerId)}::uuid`
      return sql<Row>`select ${thresholdColumns} from ${t.usage_thresholds} t
where account_id = ${accountId} and mode = ${mode} ${ofCustomer} and ${position} order by ${order} limit ${limit}`
    })
    return pageOf(
      page,
      yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(thresholdFromRow))(rows),
    )
  })

  return { insertThreshold, findThreshold, deleteThreshold, listThresholds }
}
