/**
 * `EntitlementStore` on Postgres.
 */
import {
  CurrentTenant,
  type Customer,
  type Entitlement,
  EntitlementStore,
  Id,
  UsageRecord,
} from "@billwright/core"
import { Effect, Layer, Option } from "effect"
import { Statement } from "effect/sql"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { instantOf, millisColumn } from "../Millis.ts"
import { bigint, decoding, integer, json, type Row, text } from "../Row.ts"
import { customerIdOf, subscriptionIdOf } from "./DueRow.ts"

type Consumption = Entitlement.StoredEntitlementConsumption

const columns = Statement.fragment([
  Statement.literal(
    [
      "t.customer_id::text",
      "t.subscription_id::text",
      "t.usage_record_id::text",
      ...["idempotency_key", "feature", "quantity", "dimensions", "meter", "reason", "limit_type"].map(
        (name) => `t.${name}::text as ${name}`,
      ),
      "t.usage_limit::text as usage_limit",
      "t.used::text as used",
      ...["period_start", "resets_at", "created_at"].map((name) => millisColumn(`t.${name}`)),
    ].join(", "),
  ),
])

const fromRow = (row: Row): Consumption => ({
  customerId: customerIdOf(row),
  idempotencyKey: text(row, "idempotency_key"),
  feature: text(row, "feature"),
  quantity: integer(row, "quantity"),
  dimensions: json(row, "dimensions") as Consumption["dimensions"],
  usageRecordId: Id.fromUuid(
    UsageRecord.USAGE_RECORD_ID_PREFIX,
    text(row, "usage_record_id"),
  ) as UsageRecord.UsageRecordId,
  subscriptionId: subscriptionIdOf(row, "subscription_id"),
  meter: text(row, "meter"),
  reason: text(row, "reason") as Consumption["reason"],
  limitType: text(row, "limit_type") as Consumption["limitType"],
  limit: bigint(row, "usage_limit"),
  used: bigint(row, "used"),
  periodStart: integer(row, "period_start"),
  resetsAt: integer(row, "resets_at"),
  createdAt: integer(row, "created_at"),
})

/** An instant in epoch milliseconds as a value. */
const instant = (millis: number): Statement.Fragment => {
  const [before = "", after = ""] = instantOf("?").split("?")
  return Statement.fragment([
    Statement.literal(before),
    Statement.parameter(String(millis)),
    Statement.literal(`::float8${after}`),
  ])
}

const make = Effect.gen(function* () {
  const { read, tables: t, write } = yield* Database

  /** The row is changed, and not only locked: so a transaction whose snapshot is older fails, and does not read old usage. */
  const lock = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "EntitlementStore.lock",
      (sql) =>
        sql<Row>`insert into ${t.billing_entitlement_locks} as t (account_id, mode, customer_id, sequence)
values (${accountId}, ${mode}, ${Id.toUuid(customerId)}::uuid, 1)
on conflict (account_id, mode, customer_id) do update set sequence = t.sequence + 1
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const byKey = Effect.fnUntraced(function* (customerId: Customer.CustomerId, idempotencyKey: string) {
    const operation = "EntitlementStore.byKey"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns} from ${t.billing_entitlement_consumptions} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.customer_id = ${Id.toUuid(customerId)}::uuid
  and t.idempotency_key = ${idempotencyKey}`,
    )
    const found = yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(fromRow))(rows)
    return Option.fromUndefinedOr(found[0])
  })

  const insert = Effect.fnUntraced(function* (one: Consumption) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "EntitlementStore.insert",
      (sql) =>
        sql<Row>`insert into ${t.billing_entitlement_consumptions} (account_id, mode, customer_id, idempotency_key, feature,
  quantity, dimensions, usage_record_id, subscription_id, meter, reason, limit_type, usage_limit, used, period_start,
  resets_at, created_at)
values (${accountId}, ${mode}, ${Id.toUuid(one.customerId)}::uuid, ${one.idempotencyKey}, ${one.feature},
  ${String(one.quantity)}::bigint, ${JSON.stringify(one.dimensions)}::text::jsonb, ${Id.toUuid(one.usageRecordId)}::uuid,
  ${Id.toUuid(one.subscriptionId)}::uuid, ${one.meter}, ${one.reason}, ${one.limitType}, ${String(one.limit)}::numeric,
  ${String(one.used)}::numeric, ${instant(one.periodStart)}, ${instant(one.resetsAt)}, ${instant(one.createdAt)})
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const reach = Effect.fnUntraced(function* (one: Entitlement.ReachedLimit) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "EntitlementStore.reach",
      (sql) =>
        sql<Row>`insert into ${t.billing_entitlement_limits} (account_id, mode, customer_id, feature, subscription_id,
  period_start, usage_limit, reached_at)
values (${accountId}, ${mode}, ${Id.toUuid(one.customerId)}::uuid, ${one.feature}, ${Id.toUuid(one.subscriptionId)}::uuid,
  ${instant(one.periodStart)}, ${String(one.limit)}::numeric, ${instant(one.reachedAt)})
on conflict do nothing returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return rows.length > 0
  })

  return EntitlementStore.of({ lock, byKey, insert, reach })
})

export const layer: Layer.Layer<EntitlementStore, never, Database> = Layer.effect(EntitlementStore, make)
