/**
 * Bill runs on this storage: many subjects in one transaction, and what happens when one of them fails.
 */
import { Billing, BillingRuns, Endpoints, Id, Invoices, Subscriptions } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { allEvents, START, subscribe, use } from "./Invoicing.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const services = Billing.layerWith({ encryption: "none" })
const live = services.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 4 })),
)

/** Nothing but a lock time-out ends a wait. */
const patient = services.pipe(
  Layer.provideMerge(Storage.layer({ deadlineMillis: 600_000 })),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 4, statementTimeoutMillis: 0 })),
)

const SUBSCRIPTIONS = 50
/** Most statements of a run, however many subscriptions it bills. */
const MOST_STATEMENTS = 47

const runDue = Effect.flatMap(BillingRuns, (runs) => runs.runDue())

/** A span that tells the text of its statement. */
class StatementSpan extends Tracer.NativeSpan {
  onStatement: (text: string) => void = () => {}

  override attribute(key: string, value: unknown): void {
    super.attribute(key, value)
    if (key === "db.query.text") this.onStatement(String(value))
  }
}

/** The statements of an effect, without those that begin and end transactions. `onStatement` is told when one begins. */
const statementsOf = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  onStatement: (text: string) => void = () => {},
) {
  const statements: Array<string> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new StatementSpan(options)
      span.onStatement = (text) => {
        statements.push(text)
        onStatement(text)
      }
      return span
    },
  })
  const result = yield* Effect.withTracer(effect, tracer)
  return { result, statements }
})

/** Subscribers who have used different amounts. */
const subscribers = (count: number) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START.epochMilliseconds)
    const made = yield* Effect.forEach(Array.from({ length: count }), () => subscribe)
    yield* runDue
    for (const [index, { customer }] of made.entries()) yield* use(customer, index * 100)
    yield* TestClock.setTime(DateTime.add(START, { months: 1 }).epochMilliseconds)
    return made
  })

const everyInvoice = Effect.gen(function* () {
  const found = []
  let cursor: { startingAfter?: string } = {}
  for (;;) {
    const { data, hasMore } = yield* (yield* Invoices).list({ limit: 100, ...cursor })
    found.push(...data)
    if (!hasMore) return found.toReversed()
    cursor = { startingAfter: found.at(-1)!.id }
  }
})

it.live("needs no more statements for many subscriptions than for a few", () =>
  Effect.gen(function* () {
    yield* subscribers(SUBSCRIPTIONS)
    const renewed = yield* statementsOf(runDue)
    assert.deepStrictEqual(renewed.result, {
      subscriptions: SUBSCRIPTIONS,
      invoices: 0,
      failed: 0,
      hasMore: false,
    })
    assert.isAtMost(renewed.statements.length, MOST_STATEMENTS, renewed.statements.join("\n\n"))
    yield* TestClock.adjust("1 hour")
    const finalized = yield* statementsOf(runDue)
    assert.strictEqual(finalized.result.invoices, SUBSCRIPTIONS)
    assert.isAtMost(finalized.statements.length, MOST_STATEMENTS, finalized.statements.join("\n\n"))
    const numbers = (yield* everyInvoice).map(({ number }) => number)
    assert.lengthOf(new Set(numbers), 2 * SUBSCRIPTIONS)
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(live)),
)

it.live("bills the same as one after another in memory, and queues the same deliveries", () => {
  const billed = Effect.gen(function* () {
    yield* (yield* Endpoints).create({ url: "https://example.com/hooks", eventTypes: ["invoice.finalized"] })
    const made = yield* subscribers(12)
    yield* runDue
    yield* TestClock.adjust("1 hour")
    yield* runDue
    const places = new Map(made.map(({ customer }, index) => [customer.id, index]))
    const invoices = (yield* everyInvoice).map(({ customerId, lines, number, status, total }) => ({
      place: places.get(customerId),
      number,
      status,
      total,
      lines: lines.map(({ amount, description, quantity }) => ({ amount, description, quantity })),
    }))
    const events = (yield* allEvents).map((payload) => (payload as { readonly type: string }).type)
    return { invoices, events: events.toSorted() }
  }).pipe(asTenant, Effect.provide(TestClock.layer()))
  return Effect.gen(function* () {
    const inMemory = yield* Effect.provide(billed, services.pipe(Layer.provideMerge(Memory.layer)))
    const onPostgres = yield* Effect.gen(function* () {
      const result = yield* billed
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`select 1 from billwright.webhook_pending`
      assert.lengthOf(rows, 24)
      return result
    }).pipe(Effect.provide(live))
    assert.deepStrictEqual(onPostgres, inMemory)
  })
})

it.live("bills the others when one fails, and tries that one again later", () =>
  Effect.gen(function* () {
    const [first] = yield* subscribers(5)
    const sql = yield* SqlClient.SqlClient
    yield* sql`update billwright.billing_subscriptions
set state = jsonb_set(state, '{period,segments,0,plan,version}', '99') where customer_id = (
  select customer_id from billwright.billing_subscriptions order by id limit 1)`
    const report = yield* runDue
    assert.deepStrictEqual(report, { subscriptions: 4, invoices: 0, failed: 1, hasMore: false })
    const { failure } = yield* (yield* Subscriptions).get(first!.subscription.id)
    assert.strictEqual(failure?.attempts, 1)
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(live)),
)

it.live("bills all together when somebody else holds one for a short time", () =>
  Effect.gen(function* () {
    const [first] = yield* subscribers(5)
    const sql = yield* SqlClient.SqlClient
    const [isHeld, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const uuid = Id.toUuid(first!.subscription.id)
    const held =
      yield* sql`select 1 from billwright.billing_subscriptions where id = ${uuid}::uuid for update`.pipe(
        Effect.andThen(Deferred.succeed(isHeld, undefined)),
        Effect.andThen(Deferred.await(mayEnd)),
        sql.withTransaction,
        Effect.forkChild,
      )
    yield* Deferred.await(isHeld)
    let locks = 0
    const { result, statements } = yield* statementsOf(runDue, (text) => {
      if (text.includes("for no key update") && text.includes("invoice_group is null") && ++locks === 2)
        Deferred.doneUnsafe(mayEnd, Effect.void)
    })
    yield* Fiber.join(held)
    assert.deepStrictEqual(result, { subscriptions: 5, invoices: 0, failed: 0, hasMore: false })
    assert.strictEqual(locks, 2)
    assert.isAtMost(statements.length, MOST_STATEMENTS, statements.join("\n\n"))
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(patient)),
)

it.live("bills the others while somebody else holds one for longer than a transaction may take", () =>
  Effect.gen(function* () {
    const [first] = yield* subscribers(5)
    const sql = yield* SqlClient.SqlClient
    const [isHeld, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const uuid = Id.toUuid(first!.subscription.id)
    const held =
      yield* sql`select 1 from billwright.billing_subscriptions where id = ${uuid}::uuid for update`.pipe(
        Effect.andThen(Deferred.succeed(isHeld, undefined)),
        Effect.andThen(Deferred.await(mayEnd)),
        sql.withTransaction,
        Effect.forkChild,
      )
    yield* Deferred.await(isHeld)
    const report = yield* runDue
    assert.deepStrictEqual(report, { subscriptions: 4, invoices: 0, failed: 1, hasMore: false })
    yield* Deferred.succeed(mayEnd, undefined)
    yield* Fiber.join(held)
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(live)),
)

it.live("bills the others when the failure of one has a message that Postgres can't store", () => {
  const fails = { quote: () => Effect.fail(new Error("no rate for a\0b\ud800")) }
  const failing = Billing.layerWith({ encryption: "none", invoices: { tax: fails } }).pipe(
    Layer.provideMerge(Storage.layer()),
    Layer.provideMerge(TestDatabase.layerClient({ poolSize: 4 })),
  )
  return Effect.gen(function* () {
    yield* TestClock.setTime(START.epochMilliseconds)
    for (let n = 0; n < 2; n++) yield* subscribe
    const report = yield* runDue
    assert.deepInclude(report, { failed: 2, hasMore: false })
    const problems = (yield* everyInvoice).map(({ failure }) => failure?.problem)
    assert.lengthOf(problems, 2)
    for (const problem of problems) assert.include(problem, "no rate for a b\ufffd")
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(failing))
})
