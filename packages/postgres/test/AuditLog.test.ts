/**
 * The audit log on Postgres: what is in it stays, whoever writes to the tables, and a record commits with its change.
 */
import {
  Actor,
  AuditRecords,
  BatchTransactor,
  Billing,
  CurrentActor,
  Customers,
  Transactor,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const services = (url: string) =>
  Billing.layer.pipe(
    Layer.provideMerge(Storage.layer()),
    Layer.provideMerge(PostgresClient.layer({ url: Redacted.make(url) })),
  )

const create = (name: string) =>
  Effect.flatMap(Customers, (customers) => customers.create({ name, email: "ada@example.com" }))
const records = Effect.map(
  Effect.flatMap(AuditRecords, (log) => log.list({ limit: 100 })),
  ({ data }) => data,
)

const refusal = (url: string, statement: string) =>
  Effect.promise(() =>
    TestDatabase.execute(url, statement).then(
      () => undefined,
      (error: Error & { readonly code?: string }) => ({ code: error.code, message: error.message }),
    ),
  )

const CHANGES: ReadonlyArray<string> = [
  `update billwright.audit_records set actor_id = 'nobody'`,
  `update billwright.audit_records set after = null`,
  `delete from billwright.audit_records`,
  `truncate billwright.audit_records`,
  `insert into billwright.audit_records select * from billwright.audit_records
on conflict (account_id, mode, id) do update set actor_id = 'nobody'`,
  `merge into billwright.audit_records r using (select 1) as one on true when matched then delete`,
]

describe("the audit log", () => {
  it.live("is neither changed nor removed by a statement, also by one of the owner of the table", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      yield* Effect.gen(function* () {
        yield* create("Ada")
        const before = yield* records
        assert.lengthOf(before, 1)
        for (const statement of CHANGES) {
          const refused = yield* refusal(url, statement)
          assert.strictEqual(refused?.code, "23001", statement)
          assert.include(refused?.message, "records are only added to it")
        }
        assert.deepStrictEqual(yield* records, before)
      }).pipe(asTenant, Effect.provide(services(url)))
    }).pipe(Effect.scoped),
  )

  it.live("loses old records to the function that prunes it, and no others", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      yield* Effect.gen(function* () {
        yield* create("Ada")
        const [young] = yield* records
        const days = [89, 91, 400, 401]
        yield* Effect.promise(() =>
          TestDatabase.execute(
            url,
            `insert into billwright.audit_records select r.account_id, r.mode, gen_random_uuid(), r.action, 'day ' || d, r.actor_type,
  r.actor_id, r.actor_role, r.before, r.after, r.left_out, r.ip, r.user_agent, r.request_id, now() - d * interval '1 day'
from billwright.audit_records r, unnest('{${days.join(",")}}'::integer[]) as d`,
          ),
        )
        const sql = yield* SqlClient.SqlClient
        const pruned = (age: string, limit: number) =>
          Effect.map(
            sql<{
              count: string
            }>`select billwright.prune_audit_log(now() - ${age}::text::interval, ${limit})::text as count`,
            ([row]) => Number(row?.count),
          )
        const left = Effect.map(records, (all) => all.map(({ objectId }) => objectId).toSorted())
        assert.strictEqual(yield* pruned("1 year", 1), 1)
        assert.strictEqual(yield* pruned("1 year", 10), 1)
        assert.strictEqual(yield* pruned("1 year", 10), 0)
        assert.deepStrictEqual(yield* left, ["day 89", "day 91", young!.objectId].toSorted())
        for (const [before, limit, problem] of [
          ["now() - interval '89 days'", "10", "before must be at least 90 days ago"],
          ["null", "10", "before must be at least 90 days ago"],
          ["now() - interval '1 year'", "0", "limit must be an integer from 1 to 100000"],
        ] as const) {
          const refused = yield* refusal(url, `select billwright.prune_audit_log(${before}, ${limit})`)
          assert.include(refused?.message, problem)
        }
        // The setting of the function is not enough for a young record, and is over when the function is.
        const forced = yield* refusal(
          url,
          `begin; set local billwright.prunes_audit_log = 'on'; delete from billwright.audit_records where object_id = 'day 89'`,
        )
        assert.strictEqual(forced?.code, "23001")
        const after = yield* refusal(
          url,
          `begin; select billwright.prune_audit_log(now() - interval '1 year'); delete from billwright.audit_records where object_id = 'day 91'`,
        )
        assert.strictEqual(after?.code, "23001")
        assert.deepStrictEqual(yield* left, ["day 89", "day 91", young!.objectId].toSorted())
      }).pipe(asTenant, Effect.provide(services(url)))
    }).pipe(Effect.scoped),
  )

  it.live("commits with the change, and those of a batch in one statement", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      yield* Effect.gen(function* () {
        const { atomically } = yield* Transactor
        yield* Effect.ignore(atomically(Effect.andThen(create("Ada"), Effect.fail("undone"))))
        assert.deepStrictEqual(yield* records, [])
        const { atomicallyAll } = yield* BatchTransactor
        const names = Array.from({ length: 20 }, (_, index) => `Customer ${index}`)
        const made = yield* atomicallyAll(names.map(create)).pipe(
          Effect.provideService(CurrentActor, Actor.runner),
        )
        const all = yield* records
        assert.sameMembers(
          all.map(({ objectId }) => objectId),
          made.map(({ id }): string => id),
        )
        assert.deepStrictEqual([...new Set(all.map(({ actorId }) => actorId))], ["runner"])
        // Rows of one statement have the same command.
        const sql = yield* SqlClient.SqlClient
        const commands = yield* sql`select distinct cmin::text from billwright.audit_records`
        assert.lengthOf(commands, 1)
      }).pipe(asTenant, Effect.provide(services(url)))
    }).pipe(Effect.scoped),
  )
})
