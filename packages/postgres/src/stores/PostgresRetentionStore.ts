/**
 * The `RetentionStore` on Postgres.
 *
 * Old rows are found tenant by tenant, by indexes that also serve other queries: an index only for this would make
 * every publication slower. A step is one transaction, and skips rows that others have locked. It locks events before
 * it looks at their deliveries, and a replay locks its event before it creates deliveries (`for key share`). So
 * either the step sees these deliveries, or the replay finds that the event is gone.
 */
import {
  type PruneStep,
  type RetentionCursor,
  RetentionStore,
  StorageError,
  Transactor,
} from "@billwright/core"
import { Effect, Layer } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { Database } from "../Database.ts"
import { decoding, integer, type Row, text, textOrNull } from "../Row.ts"

/** How many tenants a step visits. Most of them may have nothing old. */
const MAX_TENANTS = 1_000
/** How many deliveries a step removes before it ends early. All deliveries of an event are removed together. */
const MAX_DELIVERIES = 2_000

const PRUNE_EVENTS = "RetentionStore.pruneEvents"
const PRUNE_COUNTS = "RetentionStore.pruneCounts"

/** The last row that was visited. `at` is in epoch milliseconds. */
interface RowKey {
  readonly accountId: string
  readonly mode: string
  readonly at: string
  readonly id: string
}

const START: RowKey = { accountId: "", mode: "", at: "-infinity", id: "00000000-0000-0000-0000-000000000000" }
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

const format = ({ accountId, at, id, mode }: RowKey): RetentionCursor => [accountId, mode, at, id].join(" ")

const parse = (
  operation: string,
  cursor: RetentionCursor | undefined,
): Effect.Effect<RowKey, StorageError> => {
  if (cursor === undefined) return Effect.succeed(START)
  const [accountId, mode, at, id, ...rest] = cursor.split(" ")
  if (
    accountId !== undefined &&
    mode !== undefined &&
    at !== undefined &&
    id !== undefined &&
    rest.length === 0
  ) {
    return Effect.succeed({ accountId, mode, at, id })
  }
  const cause = new TypeError("the cursor is not one that this store gave")
  return Effect.fail(new StorageError({ operation, retryable: false, cause }))
}

const instantOf = (sql: SqlClient.SqlClient, millis: string) =>
  millis === "infinity" || millis === "-infinity"
    ? sql`${millis}::text::timestamptz`
    : sql`to_timestamp(${millis}::text::float8 / 1000)`

/** The columns that give a table its order for a step. */
interface Walked {
  readonly table: Statement.Fragment
  readonly at: string
  readonly id: string
}

interface Found {
  /** In the order in which they were found. */
  readonly rowKeys: ReadonlyArray<RowKey>
  /** Where the next step continues, if there is more. */
  readonly next: RowKey | undefined
}

const rowKeyOf = (row: Row): RowKey => ({
  accountId: text(row, "account_id"),
  mode: text(row, "mode"),
  at: textOrNull(row, "at") ?? "infinity",
  id: textOrNull(row, "id") ?? LAST_ID,
})

/**
 * Goes from tenant to tenant with one index look-up each, and reads the old rows of each after the key, oldest first.
 * A row with only a tenant says that the search stopped after that tenant.
 */
const look = (sql: SqlClient.SqlClient, { at, id, table }: Walked, step: PruneStep, from: RowKey) => {
  const columns = sql.literal(`w.account_id, w.mode, w.${at} as at, w.${id} as id`)
  const position = sql.literal(`(w.${at}, w.${id})`)
  const order = sql.literal(`w.${at}, w.${id}`)
  const isFirst = sql`t.account_id = ${from.accountId} and t.mode = ${from.mode}`
  return sql<Row>`with recursive tenants (account_id, mode, number) as (
  (select w.account_id, w.mode, 1 from ${table} w where (w.account_id, w.mode) >= (${from.accountId}, ${from.mode})
    order by w.account_id, w.mode limit 1)
  union all
  select n.account_id, n.mode, t.number + 1 from tenants t cross join lateral (
    select w.account_id, w.mode from ${table} w where (w.account_id, w.mode) > (t.account_id, t.mode)
    order by w.account_id, w.mode limit 1
  ) as n where t.number < ${sql.literal(String(MAX_TENANTS))}
), old as (
  select o.*, t.number from tenants t cross join lateral (
    select ${columns} from ${table} w
    where w.account_id = t.account_id and w.mode = t.mode
      and ${sql.literal(`w.${at}`)} < ${instantOf(sql, String(step.before.epochMilliseconds))}
      and ${position} > (case when ${isFirst} then ${instantOf(sql, from.at)} else '-infinity' end,
        case when ${isFirst} then ${from.id} else ${START.id} end::text::uuid)
    order by ${order} limit ${String(step.limit)}::text::integer
    ${sql.literal(step.isDryRun ? "" : "for update skip locked")}
  ) as o limit ${String(step.limit)}::text::integer
), found (account_id, mode, at, id, number) as (
  select o.account_id, o.mode, (extract(epoch from o.at) * 1000)::bigint::text, o.id::text, o.number from old o
  union all
  select t.account_id, t.mode, null, null, t.number from tenants t where t.number = ${sql.literal(String(MAX_TENANTS))}
)
select f.account_id, f.mode, f.at, f.id from found f order by f.number, f.at::bigint nulls last, f.id`
}

/**
 * Runs a statement that reads in the order of an index, except for rows of the same instant. If the planner expects
 * few old rows for a tenant, it would read and sort all of them in each step; this setting prevents that. Rows of the
 * same instant are still sorted.
 */
const withoutSorting = Effect.fnUntraced(function* <A>(
  sql: SqlClient.SqlClient,
  statement: Effect.Effect<A, SqlError.SqlError>,
) {
  const set = (value: unknown) => sql`select set_config('enable_sort', ${value}, true)`
  const [before] = yield* sql<Row>`select current_setting('enable_sort') as sort`
  yield* set("off")
  const rows = yield* statement
  yield* set(before?.["sort"])
  return rows
})

/** A step that found as many rows as its limit continues after the last of them, whichever tenants are left. */
const foundFrom = (rows: ReadonlyArray<Row>, limit: number): Found => {
  const rowKeys = rows.filter((row) => row["id"] !== null).map(rowKeyOf)
  if (rowKeys.length === limit) return { rowKeys, next: rowKeys.at(-1) }
  const brokenOff = rows.find((row) => row["id"] === null)
  return { rowKeys, next: brokenOff && rowKeyOf(brokenOff) }
}

const make = Effect.gen(function* () {
  const {
    everyTenant: { read, write },
    tables: t,
  } = yield* Database
  const transactor = yield* Transactor

  const find = Effect.fnUntraced(function* (operation: string, walked: Walked, step: PruneStep) {
    const from = yield* parse(operation, step.after)
    const rows = yield* read(operation, (sql) => withoutSorting(sql, look(sql, walked, step, from)))
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => foundFrom(all, step.limit))(rows)
  })

  const given = (sql: SqlClient.SqlClient, rowKeys: ReadonlyArray<RowKey>) => sql`select * from unnest(
    ${ArrayLiteral.quoted(rowKeys.map(({ accountId }) => accountId))}::text::text[],
    ${ArrayLiteral.quoted(rowKeys.map(({ mode }) => mode))}::text::text[],
    ${ArrayLiteral.plain(rowKeys.map(({ at }) => at))}::text::bigint[],
    ${ArrayLiteral.plain(rowKeys.map(({ id }) => id))}::text::uuid[]
  ) with ordinality as g (account_id, mode, at, id, ordinal)`

  /** Removes those of the given, locked events whose deliveries all finished before the instant. */
  const removeEvents = (sql: SqlClient.SqlClient, rowKeys: ReadonlyArray<RowKey>, step: PruneStep) => {
    const removes = (table: Statement.Fragment) =>
      step.isDryRun ? sql`select x.* from ${table} x, ` : sql`delete from ${table} x using `
    const returns = (columns: string) => sql.literal(step.isDryRun ? "" : `returning ${columns}`)
    return sql<Row>`with given as (${given(sql, rowKeys)}), judged as (
  select g.*, f.deliveries, not f.is_recent and not exists (
      select from ${t.webhook_pending} q where q.account_id = g.account_id and q.mode = g.mode and q.event_id = g.id
    ) as is_over
  from given g cross join lateral (
    select count(*) as deliveries, coalesce(bool_or(
      f.finished_at >= ${instantOf(sql, String(step.before.epochMilliseconds))}), false) as is_recent
    from ${t.webhook_finished} f where f.account_id = g.account_id and f.mode = g.mode and f.event_id = g.id
  ) as f
), counted as (
  select j.*, coalesce(sum(j.deliveries) over (order by j.ordinal rows between unbounded preceding and 1 preceding), 0)
    < ${sql.literal(String(MAX_DELIVERIES))} as has_room
  from judged j
), doomed as materialized (
  select c.account_id, c.mode, c.id from counted c where c.has_room and c.is_over
), deliveries as (
  ${removes(t.webhook_finished)} doomed d
  where x.account_id = d.account_id and x.mode = d.mode and x.event_id = d.id
  ${returns("x.account_id, x.mode, x.id, x.attempt_started_at")}
), earlier_attempts as (
  ${removes(t.webhook_earlier_attempts)} deliveries d
  where x.account_id = d.account_id and x.mode = d.mode and x.delivery_id = d.id
  ${returns("1")}
), events as (
  ${removes(t.events)} doomed d where x.account_id = d.account_id and x.mode = d.mode and x.id = d.id
  ${returns("1")}
)
select (select count(*) from events)::text as events, d.deliveries::text as deliveries,
  ((select count(*) from earlier_attempts) + d.last_attempts)::text as attempts,
  (select count(*) from counted where has_room)::text as passed
from (select count(*) as deliveries, count(d.attempt_started_at) as last_attempts from deliveries d) as d`
  }

  const pruneEvents = Effect.fnUntraced(function* (step: PruneStep) {
    const { next, rowKeys } = yield* find(
      PRUNE_EVENTS,
      { table: t.events, at: "occurred_at", id: "id" },
      step,
    )
    if (rowKeys.length === 0) return { events: 0, deliveries: 0, attempts: 0, next: next && format(next) }
    const rows = yield* write(PRUNE_EVENTS, (sql) => removeEvents(sql, rowKeys, step))
    return yield* decoding(PRUNE_EVENTS, (row: Row) => {
      const passed = integer(row, "passed")
      const last = passed < rowKeys.length ? rowKeys[passed - 1] : next
      return {
        events: integer(row, "events"),
        deliveries: integer(row, "deliveries"),
        attempts: integer(row, "attempts"),
        next: last && format(last),
      }
    })(rows[0] ?? {})
  })

  /**
   * Removes all slots of the given counts, also those that the step did not lock. It skips those that another run has locked:
   * two runs that waited for each other's slots would be a deadlock. Then both of them report the count.
   */
  const removeCounts = (
    sql: SqlClient.SqlClient,
    rowKeys: ReadonlyArray<RowKey>,
  ) => sql<Row>`with removed as (
  delete from ${t.webhook_hourly} h where h.ctid = any (array(
    select h.ctid from (${given(sql, rowKeys)}) as g join ${t.webhook_hourly} h
      on h.account_id = g.account_id and h.mode = g.mode and h.hour = to_timestamp(g.at / 1000.0::float8)
        and h.endpoint_id = g.id
    for update of h skip locked
  )) returning h.account_id, h.mode, h.hour, h.endpoint_id
)
select count(distinct r)::text as count from removed r`

  const pruneCounts = Effect.fnUntraced(function* (step: PruneStep) {
    const walked = { table: t.webhook_hourly, at: "hour", id: "endpoint_id" }
    const { next, rowKeys } = yield* find(PRUNE_COUNTS, walked, step)
    const cursor = next && format(next)
    // Each worker counts in a slot, so several rows may be one count.
    if (rowKeys.length === 0 || step.isDryRun)
      return { counts: new Set(rowKeys.map(format)).size, next: cursor }
    const rows = yield* write(PRUNE_COUNTS, (sql) => removeCounts(sql, rowKeys))
    return yield* decoding(PRUNE_COUNTS, (row: Row) => ({ counts: integer(row, "count"), next: cursor }))(
      rows[0] ?? {},
    )
  })

  // One transaction: the rows stay locked until they are judged, and both statements see what others did.
  return RetentionStore.of({
    pruneEvents: (step) => transactor.atomically(pruneEvents(step)),
    pruneCounts: (step) => transactor.atomically(pruneCounts(step)),
  })
})

export const layer: Layer.Layer<RetentionStore, never, Database | Transactor> = Layer.effect(
  RetentionStore,
  make,
)
