/**
 * The stream of committed events.
 *
 * The order is by the number of the transaction that published the event, then by id. A transaction gets its number with
 * its first write. An open transaction may have a lower number than a committed one. So the stream ends where the first
 * open transaction begins, and later events wait for it. That way a reader misses no event.
 */
import {
  CurrentTenant,
  type Event,
  type EventId,
  Id,
  StorageError,
  type TailPosition,
} from "@billwright/core"
import { Effect, Option } from "effect"
import { Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import type { DatabaseService } from "../Database.ts"
import { shownOf } from "../Paging.ts"
import { decoding, type Row, text } from "../Row.ts"
import { eventColumns, eventFromRow, withinPage } from "./EventRow.ts"

/**
 * The first open transaction that may have published something. Transactions of other databases of the cluster are
 * left out; `pg_stat_activity` lists those, with the lower half of their numbers. A transaction that it doesn't list
 * (because it has just ended, or is prepared) is included.
 */
const horizon = Statement.fragment([
  Statement.literal(`current (snapshot) as materialized (select pg_current_snapshot()), horizon (xid) as (
  select coalesce((
    select o.xid from pg_snapshot_xip(c.snapshot) as o (xid)
    where not exists (
      select from pg_stat_activity a
      where a.backend_xid is not null and a.datid <> (select oid from pg_database where datname = current_database())
        and a.backend_xid::text::numeric = o.xid::text::numeric % 4294967296
    )
    order by o.xid limit 1
  ), pg_snapshot_xmax(c.snapshot)) from current c
)`),
])

const IN_ORDER = Statement.fragment([Statement.literal("t.xid, t.id")])
const FIRST_ID = "00000000-0000-0000-0000-000000000000"

/**
 * `<xid>_<uuid>`: the position after this event of this transaction. A stream that begins at the end has a third
 * part: the snapshot at its beginning. Events that the snapshot saw come before the stream. Events of transactions
 * that were open at that time belong to it.
 */
const POSITION = /^(\d{1,20})_([0-9a-f-]{36})(?:_(\d{1,20}:\d{1,20}:[\d,]*))?$/

interface Position {
  readonly xid: string
  readonly id: string
  readonly snapshot: string | undefined
}

const format = ({ id, snapshot, xid }: Position): TailPosition =>
  snapshot === undefined ? `${xid}_${id}` : `${xid}_${id}_${snapshot}`

const parse = (position: TailPosition): Position => {
  const [, xid, id, snapshot] = POSITION.exec(position) ?? []
  if (xid === undefined || id === undefined)
    throw new TypeError("this is not a position in a stream of events")
  return { xid, id, snapshot }
}

/** The second number of a snapshot. It saw no transaction with this number or a greater one. */
const endOf = (snapshot: string): bigint => BigInt(snapshot.split(":")[1] ?? "0")

/** Drops the snapshot of a position whose transaction began after it, because it no longer matters. */
const forgetting = (position: Position): Position =>
  position.snapshot !== undefined && BigInt(position.xid) >= endOf(position.snapshot)
    ? { ...position, snapshot: undefined }
    : position

/**
 * The position after the found events. If there were fewer than asked for, everything up to the horizon was read, and
 * the position moves there. So a reader that waits for a rare type doesn't read the same events again.
 */
const behind = (position: Position, found: ReadonlyArray<Row>, limit: number, horizon: string): Position => {
  const last = found.at(-1)
  if (found.length < limit && BigInt(horizon) > BigInt(position.xid)) {
    return forgetting({ ...position, xid: horizon, id: FIRST_ID })
  }
  return last === undefined
    ? position
    : forgetting({ ...position, xid: text(last, "xid"), id: text(last, "id") })
}

export const make = ({ read, tables: t }: DatabaseService) => {
  const tailPosition = Effect.fnUntraced(function* (after: EventId | undefined) {
    const operation = "EventStore.tailPosition"
    const { accountId, mode } = yield* CurrentTenant
    if (after === undefined) {
      const rows = yield* read(
        operation,
        (sql) => sql<Row>`select s::text as snapshot, pg_snapshot_xmin(s)::text as xid
from pg_current_snapshot() as s`,
      )
      return yield* decoding(operation, (row: Row) =>
        Option.some(format({ xid: text(row, "xid"), id: FIRST_ID, snapshot: text(row, "snapshot") })),
      )(rows[0] ?? {})
    }
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select xid::text as xid from ${t.events}
where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(after)}::uuid`,
    )
    return yield* decoding(operation, (row: Row | undefined) =>
      Option.map(Option.fromUndefinedOr(row), (found) =>
        format({ xid: text(found, "xid"), id: Id.toUuid(after), snapshot: undefined }),
      ),
    )(rows[0])
  })

  const tail = Effect.fnUntraced(function* (
    position: TailPosition,
    types: ReadonlyArray<string>,
    limit: number,
  ) {
    const operation = "EventStore.tail"
    const { accountId, mode } = yield* CurrentTenant
    const start = yield* Effect.try({
      try: () => parse(position),
      catch: (cause) => new StorageError({ operation, retryable: false, cause }),
    })
    const rows = yield* read(operation, (sql) => {
      const ofTypes =
        types.length === 0 ? sql.literal("") : sql`and t.type = any (${ArrayLiteral.quoted(types)}::text[])`
      const unseen =
        start.snapshot === undefined
          ? sql.literal("")
          : sql`and not pg_visible_in_snapshot(t.xid, ${start.snapshot}::pg_snapshot)`
      return sql<Row>`with ${horizon}
select h.xid::text as horizon, t.xid::text as xid, t.is_shown::text as is_shown, ${eventColumns}
from horizon h left join lateral ${withinPage(
        sql`select t.* from ${t.events} t
  where t.account_id = ${accountId} and t.mode = ${mode}
    and (t.xid, t.id) > (${start.xid}::xid8, ${start.id}::uuid) and t.xid < h.xid ${ofTypes} ${unseen}
  order by t.xid, t.id limit ${String(limit)}::integer`,
        IN_ORDER,
      )} on true order by t.xid, t.id`
    })
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => {
      const found = all.filter((row) => row["id"] !== null)
      const shown = shownOf(found)
      const events: ReadonlyArray<Event.Event> = shown.map(eventFromRow)
      // If the step ended early because of the bytes, it counts as full.
      const most = shown.length < found.length ? shown.length : limit
      return { events, position: format(behind(start, shown, most, text(all[0] ?? {}, "horizon"))) }
    })(rows)
  })

  return { tailPosition, tail }
}
