/**
 * Test clocks on this storage: years of a customer, with the rules that Postgres checks by itself.
 */
import {
  Billing,
  BillingRuns,
  CreditNotes,
  CurrentTenant,
  Customers,
  Invoices,
  Subscriptions,
  type TestClock,
  TestClocks,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { START, subscribe } from "./Invoicing.ts"
import { inTurn } from "./Races.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const process = (url: string) =>
  Billing.layer.pipe(
    Layer.provideMerge(Storage.layer()),
    Layer.provideMerge(PostgresClient.layer({ url: Redacted.make(url) })),
  )

const inTestMode = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  asTenant(
    Effect.flatMap(CurrentTenant, (tenant) =>
      Effect.provideService(effect, CurrentTenant, { ...tenant, mode: "test" }),
    ),
  )

const advance = Effect.fnUntraced(function* (id: string, to: DateTime.Utc) {
  const clocks = yield* TestClocks
  while ((yield* clocks.advance(id, { to })).status === "advancing");
})

describe("a test clock", () => {
  it.live("takes its customers through years, with two callers at work and one that is killed", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const [one, two] = yield* Effect.forEach([1, 2], () => Layer.build(Layer.fresh(process(url))))
      yield* Effect.gen(function* () {
        // In real time, with a number before the clock's and after them.
        const real = yield* subscribe
        const clock = yield* (yield* TestClocks).create({ now: START })
        for (let n = 0; n < 2; n++) {
          const { id: customerId } = yield* (yield* Customers).create({
            name: "Ada",
            email: "ada@example.com",
            testClockId: clock.id,
          })
          yield* (yield* Subscriptions).create({ customerId, plan: "pro" })
        }
        const to = DateTime.add(START, { years: 2, hours: 2 })
        const killed = yield* Effect.forkChild(advance(clock.id, to))
        const clocks = yield* TestClocks
        yield* clocks.advance(clock.id, { to: DateTime.add(START, { months: 3 }) }).pipe(Effect.ignore)
        yield* Fiber.interrupt(killed)
        yield* Effect.all(
          [one, two].map((runner) => Effect.provide(advance(clock.id, to), runner!)),
          { concurrency: "unbounded" },
        )
        const ended = yield* clocks.get(clock.id)
        assert.deepInclude(ended, { status: "ready", advancingTo: null, now: to })
        const { data } = yield* (yield* Invoices).list({ limit: 100, status: "open" })
        assert.lengthOf(data, 50)
        assert.deepStrictEqual(
          data.map(({ number }) => Number(number?.slice(5))).toSorted((a, b) => a - b),
          Array.from({ length: 50 }, (_, n) => n + 1),
        )
        const years = new Set(data.map(({ issuedAt }) => new Date(issuedAt ?? 0).getUTCFullYear()))
        assert.deepStrictEqual([...years].toSorted(), [2026, 2027, 2028])
        yield* (yield* BillingRuns).runDue()
        const inRealTime = yield* (yield* Invoices).list({ subscriptionId: real.subscription.id })
        const notes = []
        for (const { id: invoiceId } of [...data.slice(0, 2), inRealTime.data[0]!]) {
          const note = { invoiceId, amount: 100n, reason: "other" } as const
          const { createdAt, number } = yield* (yield* CreditNotes).create(note)
          notes.push([DateTime.getPartUtc(createdAt, "year"), number])
        }
        // The last one is in real time, after two in years to come.
        const year = DateTime.getPartUtc(yield* DateTime.now, "year")
        assert.deepStrictEqual(notes, [
          [2028, `CN-${year}-0001`],
          [2028, `CN-${year}-0002`],
          [year, `CN-${year}-0003`],
        ])
        const sql = yield* SqlClient.SqlClient
        const left =
          yield* sql`select 1 from billwright.billing_due where lease_token is not null or attempts > 0`
        assert.lengthOf(left, 0)
      }).pipe(inTestMode, Effect.provide(one!))
    }).pipe(Effect.scoped),
  )

  it.live("never has a customer when it is not there, whoever is first", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const services = yield* Layer.build(process(url))
      yield* Effect.gen(function* () {
        const clocks = yield* TestClocks
        const sql = yield* SqlClient.SqlClient
        const attach = (testClockId: TestClock.TestClockId) =>
          Effect.flatMap(Customers, ({ create }) =>
            create({ name: "Ada", email: "ada@example.com", testClockId }),
          )
        const gone = yield* clocks.create({})
        const [deleted, refused] = yield* inTurn(clocks.delete(gone.id), attach(gone.id))
        assert.isTrue(Exit.isSuccess(deleted))
        assert.deepInclude(yield* Effect.flip(refused), { _tag: "TestClockNotFound" })
        const kept = yield* clocks.create({})
        const [attached, stays] = yield* inTurn(attach(kept.id), clocks.delete(kept.id))
        assert.isTrue(Exit.isSuccess(attached))
        assert.deepInclude(yield* Effect.flip(stays), { _tag: "TestClockHasCustomers" })
        // In plain SQL, too.
        for (const statement of [
          "delete from billwright.test_clocks",
          "update billwright.customers set test_clock_id = gen_random_uuid()",
        ]) {
          const error = yield* Effect.flip(sql.unsafe(statement))
          assert.strictEqual(error.reason._tag, "ConstraintError", statement)
        }
      }).pipe(inTestMode, Effect.provide(services))
    }).pipe(Effect.scoped),
  )
})
