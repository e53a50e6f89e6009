/**
 * The `PlanStore` on Postgres.
 */
import {
  Batch,
  CurrentTenant,
  Id,
  type Page,
  Plan,
  PlanStore,
  type RenamedPlan,
  StorageError,
  Tenant,
  Transactor,
} from "@billwright/core"
import { Effect, Layer, Option } from "effect"
import { Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisColumn, millisOf } from "../Millis.ts"
import { clauses, cursorIn, cursorOf, pageOf, requireCursor } from "../Paging.ts"
import { decoding, instant, integer, json, type Row, text, textOrNull } from "../Row.ts"
import { atMost } from "./Batched.ts"

const literal = (sql: string): Statement.Fragment => Statement.fragment([Statement.literal(sql)])

/** A plan `t` and its newest version `v`. */
const PLAN_COLUMNS = literal(`t.id::text, t.key, t.name, t.description, t.version::text as version,
  v.id::text as version_id, v.hash, v.terms::text as terms,
  ${millisColumn("t.created_at")}, ${millisColumn("t.updated_at")}`)
const NEWEST = literal(`v.account_id = t.account_id and v.mode = t.mode and v.plan_id = t.id
  and v.version = t.version`)

/** A version `t` of a plan `p`. */
const VERSION_COLUMNS =
  literal(`t.id::text, p.key, t.version::text as version, t.hash, t.terms::text as terms,
  ${millisColumn("t.created_at")}`)
const ITS_PLAN = literal("p.account_id = t.account_id and p.mode = t.mode and p.id = t.plan_id")

const toVersionId = (row: Row, column: string): Plan.PlanVersionId =>
  Id.fromUuid(Plan.PLAN_VERSION_ID_PREFIX, text(row, column)) as Plan.PlanVersionId

const toPlan = (row: Row): Plan.Plan => ({
  id: Id.fromUuid(Plan.PLAN_ID_PREFIX, text(row, "id")) as Plan.PlanId,
  key: text(row, "key"),
  name: text(row, "name"),
  description: textOrNull(row, "description"),
  version: integer(row, "version"),
  versionId: toVersionId(row, "version_id"),
  hash: text(row, "hash"),
  terms: json(row, "terms") as Plan.Plan["terms"],
  createdAt: instant(row, "created_at"),
  updatedAt: instant(row, "updated_at"),
})

const toVersion = (row: Row): Plan.PlanVersion => ({
  id: toVersionId(row, "id"),
  planKey: text(row, "key"),
  version: integer(row, "version"),
  hash: text(row, "hash"),
  terms: json(row, "terms") as Plan.PlanVersion["terms"],
  createdAt: instant(row, "created_at"),
})

interface AskedVersion {
  readonly key: string
  readonly version: number
}

const every =
  <A>(read: (row: Row) => A) =>
  (rows: ReadonlyArray<Row>): ReadonlyArray<A> =>
    rows.map(read)

const make = Effect.gen(function* () {
  const { read, tables: t, write } = yield* Database
  const transactor = yield* Transactor

  const lock = Effect.gen(function* () {
    const name = JSON.stringify(["billwright plans", Tenant.tenantKey(yield* CurrentTenant)])
    yield* write(
      "PlanStore.lock",
      (sql) => sql<Row>`select pg_advisory_xact_lock(hashtextextended(${name}, 0))::text as locked`,
    )
  })

  const findAll = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
    const operation = "PlanStore.findAll"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${PLAN_COLUMNS} from ${t.plans} t join ${t.plan_versions} v on ${NEWEST}
where t.account_id = ${accountId} and t.mode = ${mode}
  and t.key = any (array(select json_array_elements_text(${JSON.stringify(keys)}::text::json)))`,
    )
    return yield* decoding(operation, every(toPlan))(rows)
  })

  const list = Effect.fnUntraced(function* (page: Page.PageQuery) {
    const operation = "PlanStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorIn(read, operation, t.plans, Plan.PLAN_ID_PREFIX, page)
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${PLAN_COLUMNS} from ${t.plans} t join ${t.plan_versions} v on ${NEWEST}
where t.account_id = ${accountId} and t.mode = ${mode} and ${position} order by ${order} limit ${limit}`,
    )
    return pageOf(page, yield* decoding(operation, every(toPlan))(rows))
  })

  /** The versions that are asked for. Each is read once. */
  const findAllVersions = Effect.fnUntraced(function* (asked: ReadonlyArray<AskedVersion>) {
    const operation = "PlanStore.findVersion"
    const { accountId, mode } = yield* CurrentTenant
    const names = asked.map(({ key, version }) => JSON.stringify([key, version]))
    const places = new Map(names.map((name, index) => [name, asked[index]!]))
    const all = [...places.values()]
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${VERSION_COLUMNS} from (
  select * from unnest(${ArrayLiteral.quoted(all.map(({ key }) => key))}::text::text[],
    ${ArrayLiteral.plain(all.map(({ version }) => version))}::text::integer[])${atMost(all.length)}
) as a (key, version)
cross join lateral (
  select p.* from ${t.plans} p where p.account_id = ${accountId} and p.mode = ${mode} and p.key = a.key offset 0
) as p
cross join lateral (select t.* from ${t.plan_versions} t where ${ITS_PLAN} and t.version = a.version offset 0) as t`,
    )
    const found = yield* decoding(operation, every(toVersion))(rows)
    const byName = new Map(found.map((one) => [JSON.stringify([one.planKey, one.version]), one]))
    return names.map((name) => Option.fromUndefinedOr(byName.get(name)))
  })

  const findVersion = (key: string, version: number) =>
    Batch.together("PlanStore.findVersion", { key, version }, findAllVersions)

  const listVersions = Effect.fnUntraced(function* (key: string, page: Page.PageQuery) {
    const operation = "PlanStore.listVersions"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorOf(Plan.PLAN_VERSION_ID_PREFIX, page)
    yield* requireCursor(page, cursor, (uuid) =>
      read(
        operation,
        (sql) =>
          sql<Row>`select 1 from ${t.plans} p join ${t.plan_versions} t on ${ITS_PLAN}
where p.account_id = ${accountId} and p.mode = ${mode} and p.key = ${key} and t.id = ${uuid}::uuid`,
      ),
    )
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${VERSION_COLUMNS} from ${t.plans} p join ${t.plan_versions} t on ${ITS_PLAN}
where p.account_id = ${accountId} and p.mode = ${mode} and p.key = ${key} and ${position}
order by ${order} limit ${limit}`,
    )
    return pageOf(page, yield* decoding(operation, every(toVersion))(rows))
  })

  /** Stores the plan itself. Gives false when another version than the one before is stored. */
  const writePlan = Effect.fnUntraced(function* (operation: string, plan: Plan.Plan) {
    const { accountId, mode } = yield* CurrentTenant
    const { createdAt, description, id, key, name, updatedAt, version } = plan
    const rows = yield* write(operation, (sql) =>
      version === 1
        ? sql<Row>`insert into ${t.plans} (account_id, mode, id, key, name, description, version, created_at, updated_at)
values (${accountId}, ${mode}, ${Id.toUuid(id)}::uuid, ${key}, ${name}, ${description}, 1,
  to_timestamp(${millisOf(createdAt)}::float8 / 1000), to_timestamp(${millisOf(updatedAt)}::float8 / 1000))
on conflict do nothing returning ${XID}`
        : sql<Row>`update ${t.plans} set name = ${name}, description = ${description}::text,
  version = ${String(version)}::integer, updated_at = to_timestamp(${millisOf(updatedAt)}::float8 / 1000)
where account_id = ${accountId} and mode = ${mode} and key = ${key}
  and version = ${String(version - 1)}::integer returning ${XID}`,
    )
    yield* noteXid(rows[0]?.xid)
    return rows.length > 0
  })

  const publish = Effect.fnUntraced(function* (plan: Plan.Plan) {
    const operation = "PlanStore.publish"
    const { accountId, mode } = yield* CurrentTenant
    if (!(yield* writePlan(operation, plan))) {
      // So it is only when somebody else published after this transaction had read.
      const problem = `version ${plan.version} of the plan ${plan.key} does not follow the stored ones`
      return yield* new StorageError({ operation, retryable: true, cause: new Error(problem) })
    }
    yield* write(
      operation,
      (sql) =>
        sql<Row>`insert into ${t.plan_versions} (account_id, mode, id, plan_id, version, hash, terms, created_at)
select account_id, mode, ${Id.toUuid(plan.versionId)}::uuid, id, version, ${plan.hash},
  ${JSON.stringify(plan.terms)}::text::jsonb, updated_at
from ${t.plans} where account_id = ${accountId} and mode = ${mode} and key = ${plan.key}`,
    )
  })

  const rename = Effect.fnUntraced(function* ({ description, key, name, updatedAt }: RenamedPlan) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "PlanStore.rename",
      (sql) =>
        sql<Row>`update ${t.plans} set name = ${name}, description = ${description}::text,
  updated_at = to_timestamp(${millisOf(updatedAt)}::float8 / 1000)
where account_id = ${accountId} and mode = ${mode} and key = ${key} returning ${XID}`,
    )
    yield* noteXid(rows[0]?.xid)
  })

  return PlanStore.of({
    lock,
    findAll,
    list,
    findVersion,
    listVersions,
    publish: (plan) => transactor.atomically(publish(plan)),
    rename,
  })
})

export const layer: Layer.Layer<PlanStore, never, Database | Transactor> = Layer.effect(PlanStore, make)
