/**
 * The queue of deliveries: calls `claim_deliveries` and `settle_deliveries`, and reads their results.
 */
import { type Claim, type Delivery, Id, type Settlement } from "@billwright/core"
import { type DateTime, Effect, Option, type Scope } from "effect"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import type { CommitsService } from "../Commits.ts"
import { noteXid } from "../CurrentTransaction.ts"
import type { DatabaseService } from "../Database.ts"
import { decoding, instantOrNull, integer, type Row, text, textOrNull } from "../Row.ts"
import { sqlState } from "../StorageFailure.ts"
import * as ClaimedRow from "./ClaimedRow.ts"
import * as LeaseToken from "./LeaseToken.ts"
import { LowWaterMark, MIN_PAUSE_MILLIS } from "./LowWaterMark.ts"

/** The SQLSTATE of `lock_not_available`. */
const LOCKED = "55P03"
/** How many deliveries at the start of the queue are checked for the end of their lease. */
const NEXT_LOOK_AHEAD = 1_000
/** The pause between two looks for workers that have died, in milliseconds. There is one at a time. */
const WATCH_MILLIS = 500

/** Where the last claim stopped going through endpoints and tenants. The next claim continues there. */
interface Visited {
  readonly endpoint: string | null
  readonly account: string | null
  readonly mode: string | null
}

const START: Visited = { endpoint: null, account: null, mode: null }

const visitedFromRow = (row: Row): Visited => ({
  endpoint: textOrNull(row, "visited"),
  account: textOrNull(row, "visited_account"),
  mode: textOrNull(row, "visited_mode"),
})

const claimStatement = ({ schema }: DatabaseService): string =>
  `select ${ClaimedRow.columns}, visited::text as visited, visited_account, visited_mode
from ${schema}.claim_deliveries($1::text::bigint, $2::text::bigint, $3::text::uuid, $4::text::integer,
  $5::text::integer, $6::text::uuid[], $7::text::integer[], $8::text::text[], $9::text::text[], $10::text::integer[],
  $11::text::uuid, $12::text, $13::text, $14::text::boolean, $15::text::bigint)`

const claimParameters = (
  { leaseUntil, limit, limitPerEndpoint, limits, now, tenantLimits }: Claim,
  token: string,
  after: Visited,
  isRepeat: boolean,
  dueSince: number | null,
): ReadonlyArray<string | null> => [
  String(now.epochMilliseconds),
  String(leaseUntil.epochMilliseconds),
  token,
  String(limit),
  String(limitPerEndpoint),
  ArrayLiteral.plain([...limits.keys()].map((id) => Id.toUuid(id))),
  ArrayLiteral.plain([...limits.values()]),
  ArrayLiteral.quoted(tenantLimits.map(({ tenant }) => tenant.accountId)),
  ArrayLiteral.plain(tenantLimits.map(({ tenant }) => tenant.mode)),
  ArrayLiteral.plain(tenantLimits.map((own) => own.limit)),
  after.endpoint,
  after.account,
  after.mode,
  String(isRepeat),
  dueSince === null ? null : String(dueSince),
]

const settleStatement = ({ schema }: DatabaseService): string =>
  `select xid, is_written::text from ${schema}.settle_deliveries($1::text::text[], $2::text::text[], $3::text::uuid[],
  $4::text::uuid[], $5::text::uuid[], $6::text::tid[], $7::text::bigint[], $8::text::text[], $9::text::integer[],
  $10::text::bigint[], $11::text::text[], $12::text::integer[], $13::text::bigint[], $14::text::integer[],
  $15::text::text[], $16::text::smallint[], $17::text::text[], $18::text::text[], $19::text::text[],
  $20::text::boolean)`

/** The places of leases. A lease has its place only the first time, so that its row is written once. */
const placesOf = (tokens: ReadonlyArray<string>): ReadonlyArray<string | null> => {
  const seen = new Set<string>()
  return tokens.map((token) => {
    if (seen.has(token)) return null
    seen.add(token)
    return LeaseToken.placeOf(token)
  })
}

const settleParameters = (settlements: ReadonlyArray<Settlement>): ReadonlyArray<string> => {
  const { plain, quoted } = ArrayLiteral
  const ofAll = <A>(read: (settlement: Settlement) => A): ReadonlyArray<A> => settlements.map(read)
  const tokens = ofAll(({ token }) => token)
  const ofAttempts = <A>(read: (attempt: Delivery.Attempt) => A): ReadonlyArray<A | null> =>
    settlements.map(({ attempt }) => (attempt === undefined ? null : read(attempt)))
  return [
    quoted(ofAll(({ tenant }) => tenant.accountId)),
    quoted(ofAll(({ tenant }) => tenant.mode)),
    plain(ofAll(({ id }) => Id.toUuid(id))),
    plain(ofAll((one) => (one.endpointId === undefined ? null : Id.toUuid(one.endpointId)))),
    plain(tokens.map(LeaseToken.uuidOf)),
    quoted(placesOf(tokens)),
    plain(ofAll(({ at }) => at.epochMilliseconds)),
    plain(ofAll(({ state }) => state.status)),
    plain(ofAll(({ state }) => state.attemptCount)),
    plain(ofAll(({ state }) => (state.status === "Pending" ? state.dueAt : null))),
    plain(ofAll(({ state }) => (state.status === "Failed" ? state.reason : null))),
    plain(ofAttempts(({ number }) => number)),
    plain(ofAttempts(({ startedAt }) => startedAt.epochMilliseconds)),
    plain(ofAttempts(({ durationMillis }) => (durationMillis === null ? null : Math.round(durationMillis)))),
    quoted(ofAttempts(({ requestHeaders }) => JSON.stringify(requestHeaders))),
    plain(ofAttempts(({ responseStatus }) => responseStatus)),
    quoted(
      ofAttempts(({ responseHeaders }) =>
        responseHeaders === null ? null : JSON.stringify(responseHeaders),
      ),
    ),
    quoted(ofAttempts(({ responseBody }) => responseBody)),
    plain(ofAttempts(({ error }) => error)),
  ]
}

/** `scope`: that of the store, in which it looks for workers that have died. */
export const make = (database: DatabaseService, commits: CommitsService, scope: Scope.Scope) => {
  const { tables: t } = database
  const { read, write, writeApart } = database.everyTenant
  const claiming = claimStatement(database)
  const settling = settleStatement(database)
  const watching = `select ${database.schema}.watch_workers($1)`
  const mark = new LowWaterMark()
  const endpointOf = ClaimedRow.readingOnce()
  let visited = START

  /**
   * Begins work beside claims from time to time, once at a time. No claim waits for it, because somebody's lock may hold it up.
   * When it fails, a later claim begins it again.
   */
  const occasionally = (pauseMillis: number) => {
    let nextAt = -Infinity
    const ended = Effect.sync(() => {
      nextAt = performance.now() + pauseMillis
    })
    return (work: Effect.Effect<unknown, unknown>) =>
      Effect.suspend(() => {
        if (performance.now() < nextAt) return Effect.void
        nextAt = Infinity
        return Effect.forkIn(Effect.ensuring(Effect.ignore(work), ended), scope)
      })
  }

  /** Looks for workers that have died. When it fails, a claim says why. */
  const watch = Effect.suspend(() =>
    writeApart("DeliveryStore.claimDue", (sql) => sql.unsafe<Row>(watching, [commits.worker.name()])),
  )
  const sometimesWatch = occasionally(WATCH_MILLIS)
  const sometimesMark = occasionally(MIN_PAUSE_MILLIS)

  /** What the mark depends on. */
  const queueAt = Effect.fnUntraced(function* (now: DateTime.Utc) {
    const operation = "DeliveryStore.claimDue"
    const rows = yield* read(
      operation,
      (
        sql,
      ) => sql<Row>`select pg_stat_get_dead_tuples(${database.schema + ".webhook_pending"}::regclass)::text as dead_rows,
  (select (extract(epoch from q.due_at) * 1000)::bigint::text from ${t.webhook_pending} q
    order by q.due_at, q.id limit 1) as first_due_at`,
    )
    return yield* decoding(operation, (row: Row) => ({
      firstDueAt: Math.min(
        now.epochMilliseconds,
        instantOrNull(row, "first_due_at")?.epochMilliseconds ?? Infinity,
      ),
      deadRows: integer(row, "dead_rows"),
    }))(rows[0] ?? {})
  })

  const claimDue = Effect.fnUntraced(function* (claim: Claim) {
    const operation = "DeliveryStore.claimDue"
    const token = commits.worker.token()
    // What it finds, a later claim takes.
    yield* sometimesWatch(watch)
    const begunAt = performance.now()
    const since = mark.since(begunAt)
    const rows = yield* writeApart(operation, (sql, isRepeat) =>
      sql.unsafe<Row>(claiming, claimParameters(claim, token, visited, isRepeat, since)),
    )
    const took = performance.now() - begunAt
    if (since === null && mark.isSlow(took)) {
      yield* sometimesMark(
        Effect.map(queueAt(claim.now), (queue) => mark.set(queue, took, performance.now())),
      )
    }
    if (rows[0] !== undefined) visited = visitedFromRow(rows[0])
    return yield* decoding(operation, (all: ReadonlyArray<Row>) =>
      ClaimedRow.claimedFromRows(all, endpointOf),
    )(rows)
  })

  const settle = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
    const operation = "DeliveryStore.settle"
    if (settlements.length === 0) return []
    const parameters = settleParameters(settlements)
    let isLocked = false
    const writing = write(operation, (sql, isRepeat) =>
      Effect.tapError(sql.unsafe<Row>(settling, [...parameters, String(isRepeat || isLocked)]), (error) =>
        Effect.sync(() => {
          isLocked ||= sqlState(error) === LOCKED
        }),
      ),
    )
    // Where statements get one attempt only, the one that leaves out what is locked would never be made.
    const rows = yield* Effect.catchIf(
      writing,
      () => isLocked && !database.policy.allows(1),
      (error) =>
        Effect.flatMap(database.inTransaction, (isJoined) => (isJoined ? Effect.fail(error) : writing)),
    )
    yield* noteXid(rows[0]?.xid)
    const written = yield* decoding(operation, writtenFromRow)(rows[0] ?? {})
    // Released deliveries are due for other workers at once.
    if (settlements.some(isDueAtOnce)) yield* commits.announce
    return written
  })

  const nextDueAt = Effect.gen(function* () {
    const operation = "DeliveryStore.nextDueAt"
    // The deliveries that were due first have leases, so the first row without a lease is near the start. No lease
    // after that row ends before that row is due.
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select (extract(epoch from min(q.due_at)) * 1000)::bigint::text as due_at from (
  select coalesce(q.leased_until, q.due_at) as due_at from (
    select q.due_at, q.leased_until from ${t.webhook_pending} q
    order by q.due_at, q.id limit ${sql.literal(String(NEXT_LOOK_AHEAD))}
  ) q
  union all (
    select q.due_at from ${t.webhook_pending} q where q.leased_until is null order by q.due_at, q.id limit 1
  )
) q`,
    )
    return yield* decoding(operation, (row: Row) => Option.fromNullOr(instantOrNull(row, "due_at")))(
      rows[0] ?? {},
    )
  })

  return { claimDue, settle, nextDueAt }
}

/** Which results were written. `undefined` stands for those whose deliveries somebody else holds. */
const writtenFromRow = (row: Row): ReadonlyArray<boolean | undefined> =>
  text(row, "is_written")
    .slice(1, -1)
    .split(",")
    .map((value) => (value === "NULL" ? undefined : value === "t"))

const isDueAtOnce = ({ at, state }: Settlement): boolean =>
  state.status === "Pending" && state.dueAt <= at.epochMilliseconds
