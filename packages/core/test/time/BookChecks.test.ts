/** Checks of the books run in the background, one for each night, and tell of differences. */
import {
  BillingRuns,
  type BookCheck,
  BookChecks,
  Credits,
  Customers,
  Events,
  Invoices,
  InvoiceStore,
  type Tenant,
  Transactor,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { acme, acmeTest, as, globex, inWorld, listen } from "../world.ts"

const HOUR = 3_600_000
const TWO = "2026-11-22T02:00:00.000Z"

/** A customer with an issued invoice of 9.00. */
const billed = Effect.gen(function* () {
  const { id: customerId } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
  const invoices = yield* Invoices
  const lines = [{ description: "Workshop", amount: 900n }]
  const draft = yield* invoices.create({ customerId, currency: "EUR", lines } as never)
  return yield* invoices.finalize(draft.id)
})

/** Writes another amount into a stored invoice, as no code does. */
const damage = Effect.fnUntraced(function* (id: string) {
  const store = yield* InvoiceStore
  const { atomically } = yield* Transactor
  yield* atomically(
    Effect.gen(function* () {
      const stored = Option.getOrThrow(yield* store.lock(id as never))
      yield* store.save({ ...stored, state: { ...stored.state, amountDue: 899n } })
    }),
  )
})

const run = Effect.flatMap(BillingRuns, ({ runDue }) => runDue())
const refreshed = ({ id }: BookCheck.BookCheck) => Effect.flatMap(BookChecks, ({ get }) => get(id))
const published = Effect.flatMap(Events, ({ list }) => list({ type: "book_check.failed" as never }))

describe("a check of the books", () => {
  it.effect("looks at every invoice and every balance, and publishes nothing when nothing differs", () =>
    Effect.gen(function* () {
      const customers: Array<string> = []
      for (let count = 0; count < 45; count++) customers.push((yield* billed).customerId)
      for (const customerId of customers.slice(0, 21)) {
        yield* (yield* Credits).grant({ customerId, unit: "token", kind: "paid", amount: 5n } as never)
      }
      const check = yield* (yield* BookChecks).create()
      assert.deepInclude(check, { status: "running", invoices: 0, night: null, position: null })
      yield* run
      const done = yield* refreshed(check)
      assert.deepInclude(done, { status: "completed", invoices: 45, creditAccounts: 21, differences: 0 })
      assert.isNotNull(done.completedAt)
      assert.deepStrictEqual(done.found, [])
      assert.strictEqual((yield* published).data.length, 0)
    }).pipe(inWorld()),
  )

  it.effect("says what differs, and publishes that once", () => {
    const { logged, logger } = listen()
    return Effect.gen(function* () {
      const { id } = yield* billed
      yield* billed
      yield* damage(id)
      const check = yield* (yield* BookChecks).create()
      yield* run
      yield* run
      const done = yield* refreshed(check)
      assert.deepInclude(done, { status: "completed", invoices: 2, differences: 1 })
      assert.deepInclude(done.found[0], { object: id, path: "amountDue" })
      assert.include(done.found[0]!.problem, "899")
      const [event, ...more] = (yield* published).data
      assert.deepStrictEqual(more, [])
      assert.deepInclude(JSON.parse(event!.payload).data, { book_check_id: check.id, differences: 1 })
      assert.isTrue(logged.some((line) => line.includes("a check of the books found 1 differences")))
    }).pipe(inWorld(), Effect.provide(logger))
  })

  it.effect("counts all differences and lists the first 100", () =>
    Effect.gen(function* () {
      for (let count = 0; count < 103; count++) yield* damage((yield* billed).id)
      const check = yield* (yield* BookChecks).create()
      yield* run
      const { differences, found } = yield* refreshed(check)
      assert.deepStrictEqual([differences, found.length], [103, 100])
    }).pipe(inWorld()),
  )

  it.effect("is of its own tenant only", () =>
    Effect.gen(function* () {
      yield* damage((yield* billed).id)
      const check = yield* as(globex)(Effect.flatMap(BookChecks, ({ create }) => create()))
      yield* run
      assert.deepInclude(yield* as(globex)(refreshed(check)), {
        invoices: 0,
        differences: 0,
        status: "completed",
      })
      assert.instanceOf(yield* Effect.flip(refreshed(check)), Object)
    }).pipe(inWorld()),
  )
})

describe("nightly checks", () => {
  const nights = (tenant: Tenant.Tenant) =>
    as(tenant)(Effect.flatMap(BookChecks, ({ list }) => Effect.map(list(), ({ data }) => data)))

  it.effect("begin once a night for each tenant with invoices, and are due at 2 o'clock", () =>
    Effect.gen(function* () {
      const { beginNight } = yield* BookChecks
      for (const tenant of [acme, acmeTest]) yield* as(tenant)(billed)
      yield* as(globex)((yield* Customers).create({ name: "Bo", email: "bo@example.com" }))
      yield* TestClock.setTime(DateTime.makeUnsafe("2026-11-22T00:00:00.000Z").epochMilliseconds)
      assert.deepStrictEqual(
        yield* Effect.all([beginNight, beginNight], { concurrency: "unbounded" }).pipe(
          Effect.map((counts) => counts.reduce((sum, count) => sum + count, 0)),
        ),
        2,
      )
      assert.deepStrictEqual(yield* nights(globex), [])
      yield* run
      assert.deepInclude((yield* nights(acme))[0], { status: "running", night: "2026-11-22" })
      yield* TestClock.setTime(DateTime.makeUnsafe(TWO).epochMilliseconds + 1_000)
      yield* run
      for (const tenant of [acme, acmeTest]) {
        const all = yield* nights(tenant)
        assert.deepStrictEqual(
          all.map(({ invoices, status }) => [status, invoices]),
          [["completed", 1]],
        )
      }
      yield* TestClock.adjust(24 * HOUR)
      assert.strictEqual(yield* beginNight, 2)
    }).pipe(inWorld()),
  )

  it.effect("begin by themselves, night after night, until the scope closes", () =>
    Effect.gen(function* () {
      yield* billed
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(BookChecks.nightly, scope)
      yield* TestClock.adjust(49 * HOUR)
      const names = (yield* nights(acme)).map(({ night }) => night)
      assert.deepStrictEqual(names, ["2026-11-23", "2026-11-22", "2026-11-21"])
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust(24 * HOUR)
      assert.strictEqual((yield* nights(acme)).length, 3)
    }).pipe(inWorld()),
  )

  it.effect("begin at the next look after a bug", () => {
    let calls = 0
    const broken = Layer.effect(
      BookChecks,
      Effect.map(BookChecks, (checks) =>
        BookChecks.of({
          ...checks,
          beginNight: Effect.suspend(() =>
            calls++ === 0 ? Effect.die(new Error("a bug")) : checks.beginNight,
          ),
        }),
      ),
    )
    return Effect.gen(function* () {
      yield* billed
      yield* Layer.build(BookChecks.nightly.pipe(Layer.provide(broken)))
      yield* TestClock.adjust(HOUR)
      assert.strictEqual(calls, 2)
      assert.lengthOf(yield* nights(acme), 1)
    }).pipe(inWorld())
  })
})
