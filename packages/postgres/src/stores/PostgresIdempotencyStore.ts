/**
 * The `IdempotencyStore` on Postgres.
 */
import {
  CurrentTenant,
  IdempotencyStore,
  type IdempotentRequest,
  type OnceOutcome,
  StorageError,
  type StoredResponse,
  Transactor,
} from "@billwright/core"
import { type DateTime, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { decoding, integer, type Row, text } from "../Row.ts"

const ONCE = "IdempotencyStore.once"

/** JSON keeps the parts separate, whatever they contain. */
const requestDigest = (sql: SqlClient.SqlClient, request: IdempotentRequest) =>
  sql`sha256(convert_to(${JSON.stringify([request.method, request.path, request.key])}, 'UTF8'))`

const decodeRemembered = decoding(ONCE, (row: Row) => ({
  fingerprint: text(row, "fingerprint"),
  response: { status: integer(row, "status"), body: text(row, "body") },
}))

const replay = (row: Row, request: IdempotentRequest): Effect.Effect<OnceOutcome, StorageError> =>
  Effect.map(decodeRemembered(row), ({ fingerprint, response }) =>
    fingerprint === request.fingerprint ? { _tag: "Replayed", response } : { _tag: "Reused" },
  )

const make = Effect.gen(function* () {
  const { everyTenant, read, tables: t, write } = yield* Database
  const transactor = yield* Transactor

  /**
   * Takes the request's lock for the rest of the transaction; `false` if another run has it. It is a lock of the
   * transaction and not of the session: so it works behind a pooler, and is always released.
   */
  const lock = Effect.fnUntraced(function* (request: IdempotentRequest) {
    const { accountId, mode } = yield* CurrentTenant
    const name = JSON.stringify(["billwright", accountId, mode, request.method, request.path, request.key])
    const rows = yield* read(
      ONCE,
      (sql) => sql<Row>`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0))::text as is_taken`,
    )
    return rows[0]?.is_taken === "true"
  })

  // A new statement after that of the lock, so that its snapshot has what the lock's last holder committed.
  const remembered = Effect.fnUntraced(function* (request: IdempotentRequest, now: DateTime.Utc) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      ONCE,
      (sql) =>
        sql<Row>`select fingerprint, response_status::text as status, response_body as body from ${t.idempotency_keys}
where account_id = ${accountId} and mode = ${mode} and request_digest = ${requestDigest(sql, request)}
  and expires_at >= to_timestamp(${String(now.epochMilliseconds)}::float8 / 1000)`,
    )
    return rows[0]
  })

  const remember = Effect.fnUntraced(function* (
    request: IdempotentRequest,
    lifetime: { readonly now: DateTime.Utc; readonly expiresAt: DateTime.Utc },
    response: StoredResponse,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      ONCE,
      (sql) =>
        sql<Row>`insert into ${t.idempotency_keys} as k
  (account_id, mode, request_digest, fingerprint, response_status, response_body, subject, expires_at)
values (${accountId}, ${mode}, ${requestDigest(sql, request)}, ${request.fingerprint},
  ${String(response.status)}::integer, ${response.body}, ${response.subject ?? null},
  to_timestamp(${String(lifetime.expiresAt.epochMilliseconds)}::float8 / 1000))
on conflict (account_id, mode, request_digest) do update set fingerprint = excluded.fingerprint,
  response_status = excluded.response_status, response_body = excluded.response_body,
  subject = excluded.subject, expires_at = excluded.expires_at
where k.expires_at < to_timestamp(${String(lifetime.now.epochMilliseconds)}::float8 / 1000)
returning ${XID}`,
    )
    // The lock keeps other runs out, so the answer can only come from this effect: it handled the same request inside
    // itself.
    if (rows.length === 0) {
      const cause = new Error("the request was answered while it ran")
      return yield* new StorageError({ operation: ONCE, retryable: false, cause })
    }
    yield* noteXid(rows[0]?.xid)
  })

  const once = <E, R>(
    request: IdempotentRequest,
    lifetime: { readonly now: DateTime.Utc; readonly expiresAt: DateTime.Utc },
    effect: Effect.Effect<StoredResponse, E, R>,
  ) =>
    transactor.atomically(
      Effect.gen(function* () {
        if (!(yield* lock(request))) return { _tag: "Running" } satisfies OnceOutcome as OnceOutcome
        const row = yield* remembered(request, lifetime.now)
        if (row !== undefined) return yield* replay(row, request)
        const response = yield* effect
        yield* remember(request, lifetime, response)
        return { _tag: "Ran", response } satisfies OnceOutcome
      }),
    )

  const forget = Effect.fnUntraced(function* (subject: string) {
    const { accountId, mode } = yield* CurrentTenant
    yield* write(
      "IdempotencyStore.forget",
      (sql) =>
        sql`delete from ${t.idempotency_keys}
where account_id = ${accountId} and mode = ${mode} and subject = ${subject}`,
    )
  })

  const redact = Effect.fnUntraced(function* (subject: string) {
    const { accountId, mode } = yield* CurrentTenant
    yield* write(
      "IdempotencyStore.redact",
      (sql) =>
        sql`update ${t.idempotency_keys} set response_body = ''
where account_id = ${accountId} and mode = ${mode} and subject = ${subject}`,
    )
  })

  const sweep = Effect.fnUntraced(function* (now: DateTime.Utc, limit: number) {
    // Skips rows that another sweep has locked, or that a run is replacing.
    const rows = yield* everyTenant.write(
      "IdempotencyStore.sweep",
      (sql) =>
        sql<Row>`with expired as (
  select account_id, mode, request_digest from ${t.idempotency_keys}
  where expires_at < to_timestamp(${String(now.epochMilliseconds)}::float8 / 1000)
  order by expires_at limit ${String(limit)}::integer for update skip locked
), swept as (
  delete from ${t.idempotency_keys} k using expired e
  where k.account_id = e.account_id and k.mode = e.mode and k.request_digest = e.request_digest
  returning 1
)
select count(*)::text as count from swept`,
    )
    return yield* decoding("IdempotencyStore.sweep", (row: Row) => integer(row, "count"))(rows[0] ?? {})
  })

  return IdempotencyStore.of({ once, forget, redact, sweep })
})

export const layer: Layer.Layer<IdempotencyStore, never, Database | Transactor> = Layer.effect(
  IdempotencyStore,
  make,
)
