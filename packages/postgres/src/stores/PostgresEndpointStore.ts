/**
 * The `EndpointStore` on Postgres.
 */
import {
  CurrentTenant,
  Endpoint,
  type EndpointOfTenant,
  EndpointStore,
  Id,
  type Page,
  Tenant,
  Transactor,
} from "@billwright/core"
import { type DateTime, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisOf } from "../Millis.ts"
import { clauses, cursorIn, pageOf } from "../Paging.ts"
import { decoding, type Row, text } from "../Row.ts"
import {
  endpointColumns,
  endpointFromRow,
  endpointId,
  headersOf,
  secretsJson,
  storedFromRow,
} from "./EndpointRow.ts"

const instant = (sql: SqlClient.SqlClient, at: DateTime.Utc | null) =>
  sql`to_timestamp(${millisOf(at)}::float8 / 1000)`

/** The values of the columns that can change, in the order of `CHANGING`. */
const values = (sql: SqlClient.SqlClient, { endpoint, secrets }: Endpoint.StoredEndpoint) =>
  sql`${endpoint.url}, ${ArrayLiteral.quoted(endpoint.eventTypes)}::text[], ${endpoint.description},
  ${JSON.stringify(endpoint.headers)}::text::jsonb, ${JSON.stringify(endpoint.metadata)}::text::jsonb,
  ${endpoint.signature}, ${endpoint.publicKey}, ${secretsJson(secrets)}::text::jsonb, ${endpoint.status},
  ${endpoint.disabledReason}, ${instant(sql, endpoint.disabledAt)}, ${instant(sql, endpoint.failingSince)},
  ${instant(sql, endpoint.createdAt)}, ${instant(sql, endpoint.updatedAt)}`

type SealedPage = Parameters<EndpointStore["Service"]["listSealedByOtherKeys"]>[1]

const behind = (sql: SqlClient.SqlClient, after: SealedPage["after"]) =>
  after === undefined
    ? sql.literal("")
    : sql`and (t.account_id, t.mode, t.id) > (${after.tenant.accountId}, ${after.tenant.mode}, ${Id.toUuid(after.id)}::uuid)`

const CHANGING = `url, event_types, description, headers, metadata, signature, public_key, secrets, status,
  disabled_reason, disabled_at, failing_since, created_at, updated_at`

const make = Effect.gen(function* () {
  const { everyTenant, read, tables: t, write } = yield* Database
  const transactor = yield* Transactor

  const insert = Effect.fnUntraced(function* (stored: Endpoint.StoredEndpoint) {
    const operation = "EndpointStore.insert"
    const tenant = yield* CurrentTenant
    const { accountId, mode } = tenant
    const lock = JSON.stringify(["billwright endpoints", Tenant.tenantKey(tenant)])
    return yield* transactor.atomically(
      Effect.gen(function* () {
        // Held until commit: another insert for the tenant waits here, and so counts the endpoint that this one
        // inserts.
        yield* write(
          operation,
          (sql) => sql<Row>`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))::text as locked`,
        )
        const rows = yield* write(
          operation,
          (sql) =>
            sql<Row>`insert into ${t.webhook_endpoints} (account_id, mode, id, ${sql.literal(CHANGING)})
select ${accountId}, ${mode}, ${Id.toUuid(stored.endpoint.id)}::uuid, ${values(sql, stored)}
where (
  select count(*) from ${t.webhook_endpoints}
  where account_id = ${accountId} and mode = ${mode} and deleted_at is null
) < ${String(Endpoint.MAX_ENDPOINTS)}::integer
returning ${XID}`,
        )
        yield* noteXid(rows[0]?.xid)
        return rows.length > 0
      }),
    )
  })

  const find = Effect.fnUntraced(function* (id: Endpoint.EndpointId) {
    const operation = "EndpointStore.find"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${endpointColumns} from ${t.webhook_endpoints} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid and t.deleted_at is null`,
    )
    return yield* decoding(operation, (row: Row | undefined) =>
      Option.map(Option.fromUndefinedOr(row), endpointFromRow),
    )(rows[0])
  })

  const list = Effect.fnUntraced(function* (
    filter: { readonly status: Endpoint.EndpointStatus | undefined },
    page: Page.PageQuery,
  ) {
    const operation = "EndpointStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorIn(read, operation, t.webhook_endpoints, Endpoint.ENDPOINT_ID_PREFIX, page)
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${endpointColumns} from ${t.webhook_endpoints} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.deleted_at is null
  ${filter.status === undefined ? sql.literal("") : sql`and t.status = ${filter.status}`} and ${position}
order by ${order} limit ${limit}`,
    )
    return pageOf(
      page,
      yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(endpointFromRow))(rows),
    )
  })

  const modify = <E, R>(
    id: Endpoint.EndpointId,
    change: (stored: Endpoint.StoredEndpoint) => Effect.Effect<Endpoint.StoredEndpoint, E, R>,
  ) =>
    transactor.atomically(
      Effect.gen(function* () {
        const operation = "EndpointStore.modify"
        const { accountId, mode } = yield* CurrentTenant
        const uuid = Id.toUuid(id)
        const stored = (sql: SqlClient.SqlClient) =>
          sql`t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${uuid}::uuid and t.deleted_at is null`
        const decode = decoding(operation, (row: Row | undefined) =>
          Option.map(Option.fromUndefinedOr(row), storedFromRow),
        )
        const rows = yield* write(
          operation,
          (sql) =>
            sql<Row>`select ${endpointColumns} from ${t.webhook_endpoints} t where ${stored(sql)} for no key update`,
        )
        const found = yield* decode(rows[0])
        if (Option.isNone(found)) return found
        const changed = yield* change(found.value)
        const written = yield* write(
          operation,
          (sql) =>
            sql<Row>`update ${t.webhook_endpoints} t set (${sql.literal(CHANGING)}) = row (${values(sql, changed)})
where ${stored(sql)} returning ${endpointColumns}, ${XID}`,
        )
        yield* noteXid(written[0]?.xid)
        return yield* decode(written[0])
      }),
    )

  const remove = Effect.fnUntraced(function* (id: Endpoint.EndpointId, at: DateTime.Utc) {
    const { accountId, mode } = yield* CurrentTenant
    const statement = write(
      "EndpointStore.delete",
      (sql) =>
        // Headers may contain the receiver's credentials.
        sql<Row>`update ${t.webhook_endpoints} set deleted_at = ${instant(sql, at)}, secrets = '[]', headers = '{}'
where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid and deleted_at is null
returning ${XID}`,
    )
    // In a transaction, because a repeat of the statement alone could not tell its own work from that of others.
    return yield* transactor.atomically(
      Effect.flatMap(statement, (rows) => Effect.as(noteXid(rows[0]?.xid), rows.length > 0)),
    )
  })

  const listSealedByOtherKeys = Effect.fnUntraced(function* (
    keyIds: ReadonlyArray<string>,
    { after, limit, now }: SealedPage,
  ) {
    const operation = "EndpointStore.listSealedByOtherKeys"
    const rows = yield* everyTenant.read(
      operation,
      (sql) =>
        sql<Row>`select t.account_id, t.mode, t.id::text as id, live.sealed::text as sealed, t.headers::text as headers
from ${t.webhook_endpoints} t, jsonb_path_query_array(
  t.secrets, '$[*] ? (@.expires_at == null || @.expires_at > $now).sealed',
  jsonb_build_object('now', ${millisOf(now)}::bigint)
) as live (sealed)
where (exists (
  select from jsonb_array_elements_text(live.sealed) as s (sealed)
  where split_part(s.sealed, '.', 1) <> all (${ArrayLiteral.quoted(keyIds)}::text[])
) or exists (
  select from jsonb_each_text(t.headers) as h (name, sealed)
  where split_part(h.sealed, '.', 1) <> all (${ArrayLiteral.quoted(keyIds)}::text[])
)) ${behind(sql, after)}
order by t.account_id, t.mode, t.id limit ${String(limit)}::integer`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) =>
      all.map((row): EndpointOfTenant => ({
        tenant: {
          accountId: text(row, "account_id") as Tenant.AccountId,
          mode: text(row, "mode") as Tenant.Mode,
        },
        id: endpointId(text(row, "id")),
        sealed: JSON.parse(text(row, "sealed")) as ReadonlyArray<string>,
        headers: headersOf(JSON.parse(text(row, "headers"))),
      })),
    )(rows)
  })

  return EndpointStore.of({ insert, find, list, modify, delete: remove, listSealedByOtherKeys })
})

export const layer: Layer.Layer<EndpointStore, never, Database | Transactor> = Layer.effect(
  EndpointStore,
  make,
)
