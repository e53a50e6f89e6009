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
