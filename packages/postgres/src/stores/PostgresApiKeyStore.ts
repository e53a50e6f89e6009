/**
 * The `ApiKeyStore` on Postgres.
 */
import {
  ApiKey,
  ApiKeyStore,
  CurrentTenant,
  Id,
  type Page,
  type StoredApiKey,
  type Tenant,
} from "@billwright/core"
import { type DateTime, Effect, Layer, Option } from "effect"
import { Statement } from "effect/sql"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisColumn, millisOf } from "../Millis.ts"
import { clauses, cursorIn, pageOf } from "../Paging.ts"
import { decoding, instant, instantOrNull, json, type Row, text } from "../Row.ts"

const columns = Statement.fragment([
  Statement.literal(
    `id::text, account_id, mode, name, to_json(scopes)::text as scopes, to_json(networks)::text as networks,
  credit_limits::text, hint, digest,
  ${millisColumn("created_at")},
  ${millisColumn("expires_at")},
  ${millisColumn("revoked_at")},
  ${millisColumn("last_used_at")}`,
  ),
])

/** Limits are stored as text, because numbers of JSON are not exact everywhere. */
const limitsOf = (stored: Readonly<Record<string, string>>): ApiKey.CreditLimits =>
  Object.fromEntries(Object.entries(stored).map(([unit, limit]) => [unit, BigInt(limit)]))

const limitsText = (limits: ApiKey.CreditLimits): string =>
  JSON.stringify(Object.fromEntries(Object.entries(limits).map(([unit, limit]) => [unit, String(limit)])))

const fromRow = (row: Row): StoredApiKey => ({
  key: {
    id: Id.fromUuid(ApiKey.API_KEY_ID_PREFIX, text(row, "id")) as ApiKey.ApiKeyId,
    accountId: text(row, "account_id") as Tenant.AccountId,
    mode: text(row, "mode") as Tenant.Mode,
    name: text(row, "name"),
    scopes: json(row, "scopes") as ReadonlyArray<ApiKey.Scope>,
    networks: json(row, "networks") as ReadonlyArray<string>,
    creditLimits: limitsOf(json(row, "credit_limits") as Readonly<Record<string, string>>),
    hint: text(row, "hint"),
    createdAt: instant(row, "created_at"),
    expiresAt: instantOrNull(row, "expires_at"),
    revokedAt: instantOrNull(row, "revoked_at"),
    lastUsedAt: instantOrNull(row, "last_used_at"),
  },
  digest: text(row, "digest"),
})

const make = Effect.gen(function* () {
  const { everyTenant, read, tables: t, write } = yield* Database

  const insert = Effect.fnUntraced(function* ({ digest, key }: StoredApiKey) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write("ApiKeyStore.insert", (sql, isRepeat) => {
      const values = sql`(${accountId}, ${mode}, ${Id.toUuid(key.id)}::uuid, ${key.name},
  array(select json_array_elements_text(${JSON.stringify(key.scopes)}::text::json)),
  array(select json_array_elements_text(${JSON.stringify(key.networks)}::text::json)),
  ${limitsText(key.creditLimits)}::text::jsonb, ${key.hint}, ${digest},
  to_timestamp(${millisOf(key.createdAt)}::float8 / 1000), to_timestamp(${millisOf(key.expiresAt)}::float8 / 1000),
  to_timestamp(${millisOf(key.revokedAt)}::float8 / 1000), to_timestamp(${millisOf(key.lastUsedAt)}::float8 / 1000))`
      // Only a repeat may find its own key there. Any other conflict is an error.
      const onConflict = sql.literal(isRepeat ? "on conflict do nothing" : "")
      return sql<Row>`insert into ${t.api_keys} (account_id, mode, id, name, scopes, networks, credit_limits, hint, digest, created_at,
  expires_at, revoked_at, last_used_at) values ${values} ${onConflict}
returning ${XID}`
    })
    yield* noteXid(rows[0]?.xid)
  })

  const findByDigest = Effect.fnUntraced(function* (digest: string) {
    const operation = "ApiKeyStore.findByDigest"
    // The key says whose it is.
    const rows = yield* everyTenant.read(
      operation,
      (sql) => sql<Row>`select ${columns} from ${t.api_keys} where digest = ${digest}`,
    )
    return yield* firstOf(operation, rows)
  })

  const find = Effect.fnUntraced(function* (id: ApiKey.ApiKeyId) {
    const operation = "ApiKeyStore.find"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns} from ${t.api_keys}
where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid`,
    )
    return Option.map(yield* firstOf(operation, rows), ({ key }) => key)
  })

  const list = Effect.fnUntraced(function* (page: Page.PageQuery) {
    const operation = "ApiKeyStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorIn(read, operation, t.api_keys, ApiKey.API_KEY_ID_PREFIX, page)
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns} from ${t.api_keys} t
where account_id = ${accountId} and mode = ${mode} and ${position} order by ${order} limit ${limit}`,
    )
    return pageOf(
      page,
      yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map((row) => fromRow(row).key))(rows),
    )
  })

  /** Changes one of the tenant's keys. `assignments` and `condition` are SQL over the key `k` and `input.instant`. */
  const change = (operation: string, assignments: string, condition = "true") =>
    Effect.fnUntraced(function* (id: ApiKey.ApiKeyId, at: DateTime.Utc) {
      const { accountId, mode } = yield* CurrentTenant
      const millis = String(at.epochMilliseconds)
      const rows = yield* write(
        operation,
        (sql) => sql<Row>`with input as (select to_timestamp(${millis}::float8 / 1000) as instant)
update ${t.api_keys} k set ${sql.literal(assignments)} from input
where k.account_id = ${accountId} and k.mode = ${mode} and k.id = ${Id.toUuid(id)}::uuid and ${sql.literal(condition)}
returning ${columns}, ${XID}`,
      )
      yield* noteXid(rows[0]?.xid)
      return Option.map(yield* firstOf(operation, rows), ({ key }) => key)
    })

  const touch = Effect.fnUntraced(function* (id: ApiKey.ApiKeyId, at: DateTime.Utc) {
    yield* everyTenant.write(
      "ApiKeyStore.touch",
      (sql) =>
        sql`update ${t.api_keys} set last_used_at = to_timestamp(${String(at.epochMilliseconds)}::float8 / 1000)
where id = ${Id.toUuid(id)}::uuid`,
    )
  })

  return ApiKeyStore.of({
    insert,
    findByDigest,
    find,
    list,
    // The first revocation stays.
    revoke: change("ApiKeyStore.revoke", "revoked_at = coalesce(k.revoked_at, input.instant)"),
    // Of two expiries the earlier one applies (`least` ignores nulls).
    expire: change(
      "ApiKeyStore.expire",
      "expires_at = least(k.expires_at, input.instant), rolled_at = input.instant",
      "k.rolled_at is null",
    ),
    touch,
  })
})

const firstOf = (operation: string, rows: ReadonlyArray<Row>) =>
  decoding(operation, (row: Row | undefined) =>
    row === undefined ? Option.none() : Option.some(fromRow(row)),
  )(rows[0])

export const layer: Layer.Layer<ApiKeyStore, never, Database> = Layer.effect(ApiKeyStore, make)
