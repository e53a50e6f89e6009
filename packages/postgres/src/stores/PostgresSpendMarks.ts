/**
 * `SpendMarks` on Postgres. `append_usage` marks customers, too.
 *
 * Each mark is a row of its own. So marks wait for nothing, and a mark that is made while others are removed is not lost.
 */
import {
  CurrentTenant,
  type Customer,
  Id,
  type MarkedCustomer,
  SpendMarks,
  type Tenant,
} from "@billwright/core"
import { type DateTime, Effect, Layer } from "effect"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisOf } from "../Millis.ts"
import { decoding, integer, type Row, text } from "../Row.ts"
import { customerIdOf } from "./DueRow.ts"

/** Most marks that are looked at for customers. */
const LOOK_AHEAD = 10_000

const markedFromRow = (row: Row): MarkedCustomer => ({
  tenant: {
    accountId: text(row, "account_id") as Tenant.AccountId,
    mode: text(row, "mode") as Tenant.Mode,
  },
  customerId: customerIdOf(row),
  attempts: integer(row, "attempts"),
  seen: text(row, "seen"),
})

const make = Effect.gen(function* () {
  const { everyTenant, schema, tables: t, write } = yield* Database

  const mark = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "SpendMarks.mark",
      (sql) => sql<Row>`insert into ${t.spend_marks} (account_id, mode, customer_id, id)
values (${accountId}, ${mode}, ${Id.toUuid(customerId)}::uuid, ${sql.literal(schema)}.make_uuid_v7(clock_timestamp()))
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const waiting = Effect.fnUntraced(function* (now: DateTime.Utc, limit: number) {
    const operation = "SpendMarks.waiting"
    const rows = yield* everyTenant.read(
      operation,
      (sql) => sql<Row>`select c.account_id, c.mode, c.customer_id::text as customer_id, (
  select max(m.attempts) from ${t.spend_marks} m
  where m.account_id = c.account_id and m.mode = c.mode and m.customer_id = c.customer_id
)::text as attempts, c.seen::text as seen
from (
  select m.account_id, m.mode, m.customer_id, min(m.place) as place, array_agg(m.id) as seen from (
    select m.*, row_number() over (order by m.due_at, m.id) as place from (
      select m.* from ${t.spend_marks} m where m.due_at <= to_timestamp(${millisOf(now)}::float8 / 1000)
      order by m.due_at, m.id limit ${String(LOOK_AHEAD)}::integer
    ) as m
  ) as m group by m.account_id, m.mode, m.customer_id
) as c order by c.place limit ${String(limit)}::integer`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(markedFromRow))(rows)
  })

  const take = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
    const { accountId, mode } = yield* CurrentTenant
    const lock = JSON.stringify(["billwright spend marks", accountId, mode, customerId])
    // Locks of rows alone would let two take some of the marks each: each skips what the other one has locked.
    const rows = yield* write(
      "SpendMarks.take",
      (sql) => sql<Row>`with taken as (
  select m.id from ${t.spend_marks} m
  where m.account_id = ${accountId} and m.mode = ${mode} and m.customer_id = ${Id.toUuid(customerId)}::uuid
    and (select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)))
  for update skip locked
)
delete from ${t.spend_marks} m using taken
where m.account_id = ${accountId} and m.mode = ${mode} and m.customer_id = ${Id.toUuid(customerId)}::uuid
  and m.id = taken.id
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return rows.length > 0
  })

  // The ids of marks don't say which came first: one may have been made long before its transaction ended. So all that were
  // seen are named. What is put off already was seen before.
  const putOff = Effect.fnUntraced(function* (
    { customerId, seen }: Pick<MarkedCustomer, "customerId" | "seen">,
    attempts: number,
    until: DateTime.Utc,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const uuid = Id.toUuid(customerId)
    const rows = yield* write(
      "SpendMarks.putOff",
      (sql) => sql<Row>`with taken as (
  select m.id, row_number() over (order by m.id) as place from (
    select m.id from ${t.spend_marks} m
    where m.account_id = ${accountId} and m.mode = ${mode} and m.customer_id = ${uuid}::uuid
      and (m.id = any (${seen}::text::uuid[]) or m.due_at > '-infinity')
    for update skip locked
  ) as m
), removed as (
  delete from ${t.spend_marks} m using taken
  where m.account_id = ${accountId} and m.mode = ${mode} and m.customer_id = ${uuid}::uuid and m.id = taken.id
    and taken.place > 1
)
update ${t.spend_marks} m set attempts = ${String(attempts)}::integer,
  due_at = to_timestamp(${millisOf(until)}::float8 / 1000)
from taken where m.account_id = ${accountId} and m.mode = ${mode} and m.customer_id = ${uuid}::uuid and m.id = taken.id
  and taken.place = 1
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  return SpendMarks.of({ mark, waiting, take, putOff })
})

export const layer: Layer.Layer<SpendMarks, never, Database> = Layer.effect(SpendMarks, make)
