/**
 * Billing that runs by itself.
 */
import {
  Billing,
  BillingRuns,
  DueStore,
  IdGenerator,
  InvoicingUnsupported,
  Invoices,
  SpendAlerts,
  StorageError,
  Subscriptions,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Deferred, Effect, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { SPEND_POLL_MILLIS } from "../../src/time/RunLoop.ts"
import { acmeTest, as, at, globex, inWorld, listen, newCustomer } from "../world.ts"
import { allEvents, allInvoices, inYears, pushPro, use } from "./billing.ts"

/** A minute and a bit before the first period ends, so that the end is not a multiple of a poll away. */
const START = at("2026-06-30T23:58:57.300Z").epochMilliseconds
const END = "2026-07-01T00:00:00.000Z"

/** A subscription whose first period is about to end. */
const subscribe = Effect.gen(function* () {
  const customer = yield* newCustomer()
  const startAt = at("2026-06-01T00:00:00.000Z")
  return yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro", startAt })
})

const begin = Effect.andThen(pushPro, subscribe)

const withDueStore = (change: (store: DueStore["Service"]) => Partial<DueStore["Service"]>) =>
  Layer.effect(
    DueStore,
    Effect.map(DueStore, (store) => DueStore.of({ ...store, ...change(store) })),
  )

describe("BillingRuns.layer", () => {
  it.effect(
    "does what is due at its instant, with nobody calling anything",
    () =>
      Effect.gen(function* () {
        const { id } = yield* begin
        yield* TestClock.adjust("65 minutes")
        const { period } = yield* (yield* Subscriptions).get(id)
        assert.strictEqual(period?.number, 1)
        assert.deepStrictEqual(
          (yield* allInvoices).map(({ issuedAt }) => issuedAt),
          [START, at("2026-07-01T01:00:00.000Z").epochMilliseconds],
        )
        assert.include(yield* allEvents, `${END} subscription.renewed`)
      }).pipe(Effect.provide(BillingRuns.layer), inYears(START)),
    { timeout: 20_000 },
  )

  it.effect(
    "fires spend alerts within a second, with nobody calling anything",
    () =>
      Effect.gen(function* () {
        yield* pushPro
        const customer = yield* newCustomer()
        const { create } = yield* Subscriptions
        const { id: subscriptionId } = yield* create({ customerId: customer.id, plan: "pro" })
        const alerts = yield* SpendAlerts
        const { id } = yield* alerts.create({
          customerId: customer.id,
          subscriptionId,
          currency: "EUR",
          amount: 100n,
        })
        yield* TestClock.adjust(SPEND_POLL_MILLIS)
        yield* use(customer, 300)
        assert.strictEqual((yield* alerts.get(id)).firedAmount, 0n)
        yield* TestClock.adjust(SPEND_POLL_MILLIS)
        assert.strictEqual((yield* alerts.get(id)).firedAmount, 100n)
      }).pipe(Effect.provide(BillingRuns.layer), inYears(START)),
    { timeout: 20_000 },
  )

  it.effect(
    "bills every tenant",
    () =>
      Effect.gen(function* () {
        const tenants = [acmeTest, globex]
        for (const tenant of tenants) yield* as(tenant)(begin)
        yield* TestClock.adjust("65 minutes")
        for (const tenant of tenants) {
          const statuses = (yield* as(tenant)(allInvoices)).map(({ status }) => status)
          assert.deepStrictEqual(statuses, ["open", "open"])
        }
      }).pipe(Effect.provide(BillingRuns.layer), inYears(START)),
    { timeout: 20_000 },
  )

  it.effect("numbers invoices as the host has set", () =>
    Effect.gen(function* () {
      yield* begin
      yield* TestClock.adjust("1 minute")
      const { data } = yield* (yield* Invoices).list()
      assert.deepStrictEqual(
        data.map(({ number }) => number),
        ["R-1"],
      )
    }).pipe(Effect.provide(BillingRuns.layer), inWorld({ invoices: { numberFormat: "R-{number:1}" } })),
  )

  it.effect("does nothing on a storage without subscriptions and invoices", () => {
    const { logged, logger } = listen()
    const storage = Layer.effectContext(
      Effect.map(Layer.build(Memory.layer), (context) => Context.omit(DueStore)(context)),
    )
    const services = BillingRuns.layer.pipe(
      Layer.provideMerge(Billing.layerWithIds({})),
      Layer.provide(Layer.merge(storage, IdGenerator.layerSeeded(1))),
    )
    return Effect.gen(function* () {
      yield* TestClock.adjust("1 minute")
      assert.instanceOf(yield* Effect.flip((yield* BillingRuns).runDue()), InvoicingUnsupported)
      assert.deepStrictEqual(logged, [])
    }).pipe(Effect.provide(services), Effect.provide(logger))
  })

  it.effect("logs an outage of the storage once, and goes on after it", () => {
    const { logged, logger } = listen()
    let isDown = true
    const down = new StorageError({
      operation: "DueStore.claimDue",
      retryable: true,
      cause: new Error("down"),
    })
    const failing = withDueStore((store) => ({
      claimDue: (claim) => (isDown ? Effect.fail(down) : store.claimDue(claim)),
    }))
    return Effect.gen(function* () {
      yield* begin
      yield* TestClock.adjust("50 seconds")
      const began = "what is due can't be billed because the storage fails; it is tried again"
      assert.deepStrictEqual(logged, [began])
      isDown = false
      yield* TestClock.adjust("50 seconds")
      assert.lengthOf(logged, 2)
      assert.match(logged[1]!, /^billing works again \(\d+ failures were not logged\)$/)
      assert.strictEqual((yield* allInvoices)[0]?.status, "open")
    }).pipe(
      Effect.provide(Layer.fresh(BillingRuns.layer).pipe(Layer.provide(failing))),
      inYears(START),
      Effect.provide(logger),
    )
  })

  it.effect.each([
    ["something in a round was interrupted by itself", Effect.interrupt],
    ["a bug", Effect.die(new Error("a bug"))],
  ] as const)("goes on after %s", ([, ends]) => {
    const { logged, logger } = listen()
    let rounds = 0
    const interrupted = withDueStore((store) => ({
      claimDue: (claim) => (rounds++ === 0 ? ends : store.claimDue(claim)),
    }))
    return Effect.gen(function* () {
      yield* begin
      yield* TestClock.adjust("1 minute")
      assert.isAbove(rounds, 1)
      assert.strictEqual((yield* allInvoices)[0]?.status, "open")
      assert.deepStrictEqual(logged, [
        "what is due can't be billed because of a bug; it is tried again",
        "billing works again",
      ])
    }).pipe(
      Effect.provide(Layer.fresh(BillingRuns.layer).pipe(Layer.provide(interrupted))),
      inYears(START),
      Effect.provide(logger),
    )
  })

  it.effect("undoes what is under way when it stops, and others can do all of it at once", () =>
    Effect.gen(function* () {
      const due = yield* DueStore
      yield* begin
      yield* subscribe
      yield* (yield* BillingRuns).runDue()
      yield* TestClock.setTime(at(END).epochMilliseconds)
      const isUnderWay = yield* Deferred.make<void>()
      const stuck = withDueStore((store) => ({
        holds: (claimed) =>
          Effect.andThen(
            store.holds(claimed),
            Effect.andThen(Deferred.succeed(isUnderWay, undefined), Effect.never),
          ),
      }))
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Layer.fresh(BillingRuns.layer).pipe(Layer.provide(stuck)), scope)
      yield* Deferred.await(isUnderWay)
      const now = yield* DateTime.now
      const claim = due.claimDue({
        lane: "billing",
        now,
        leaseUntil: DateTime.add(now, { minutes: 1 }),
        limit: 10,
      })
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      assert.lengthOf(yield* claim, 2)
      assert.lengthOf(yield* allInvoices, 2)
    }).pipe(inYears(START)),
  )
})
