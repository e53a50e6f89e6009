import {
  AutoTopUps,
  BillingRuns,
  Credits,
  type CustomerSnapshot,
  type FakeProvider as Fake,
  FakeProvider,
  forkProvider,
  Invoices,
  Payments,
  Refunds,
  restoreSnapshot,
  Subscriptions,
  takeSnapshot,
  TopUps,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { advanceTo, SOON, subscribe, withProvider } from "../payments/collecting.ts"
import { as, globex, newCustomer, NOON } from "../world.ts"

const runDue = Effect.flatMap(BillingRuns, (runs) => runs.runDue())

/** A snapshot of a customer with a refund of 5.00, after something that happens to it. */
const refunded = (fake: Fake, happen: Effect.Effect<unknown, unknown, BillingRuns>) =>
  Effect.gen(function* () {
    const { id } = yield* subscribe
    yield* advanceTo(SOON)
    const [payment] = (yield* (yield* Payments).list()).data
    yield* (yield* Refunds).create({ paymentId: payment!.id, amount: 500n, reason: "other" })
    yield* happen
    return yield* takeSnapshot(id)
  }).pipe(withProvider(fake))

/** What becomes of the refunds of a snapshot in a fork, and what is due of the invoice then. */
const inFork = (snapshot: CustomerSnapshot) => {
  const fake = forkProvider(snapshot, { name: "fake", savesMethods: false })
  return Effect.gen(function* () {
    yield* TestClock.setTime(snapshot.at)
    yield* restoreSnapshot(snapshot)
    yield* advanceTo(DateTime.add(SOON, { days: 1 }))
    const { data } = yield* (yield* Refunds).list()
    const [invoice] = (yield* (yield* Invoices).list()).data
    return { status: data.map((one) => one.status), amountDue: invoice!.amountDue }
  }).pipe(withProvider(fake))
}

/** A snapshot whose subscription has failed, and waits. */
const failing = (snapshot: CustomerSnapshot): CustomerSnapshot => ({
  ...snapshot,
  subscriptions: snapshot.subscriptions.map(({ value, ...rest }) => ({
    ...rest,
    value: { ...value, failure: { attempts: 2, problem: "no plan", at: NOON, retryAt: SOON } },
  })),
})

describe("a snapshot", () => {
  it.effect("brings back what has failed, and leaves alone what is due of others in the storage", () =>
    Effect.gen(function* () {
      const taken = Effect.flatMap(subscribe, ({ id }) => takeSnapshot(id))
      const snapshot = failing(yield* taken.pipe(withProvider(new FakeProvider())))
      yield* Effect.gen(function* () {
        // Later, so that its ids are others.
        yield* TestClock.adjust("1 minute")
        yield* subscribe.pipe(as(globex))
        yield* restoreSnapshot(snapshot)
        const failures = (yield* (yield* Subscriptions).list()).data.map(({ failure }) => failure?.attempts)
        assert.deepStrictEqual(failures, [2])
        yield* runDue
        const [theirs] = (yield* (yield* Invoices).list().pipe(as(globex))).data
        assert.strictEqual(theirs?.status, "paid")
      }).pipe(withProvider(new FakeProvider()))
    }),
  )
})

describe("a fork", () => {
  it.effect("buys credits by itself that were already short", () =>
    Effect.gen(function* () {
      const taken = Effect.gen(function* () {
        const { id: customerId } = yield* newCustomer()
        const account = { customerId, unit: "token" }
        yield* (yield* Credits).grant({ ...account, kind: "paid", amount: 50n })
        const pack = { amount: 1_000n, currency: "EUR", price: 500n, level: 100n }
        yield* (yield* AutoTopUps).create({ ...account, ...pack })
        return yield* takeSnapshot(customerId)
      })
      const snapshot = yield* taken.pipe(withProvider(new FakeProvider()))
      yield* Effect.gen(function* () {
        yield* restoreSnapshot(snapshot)
        yield* runDue
        assert.lengthOf((yield* (yield* TopUps).list()).data, 1)
      }).pipe(withProvider(new FakeProvider()))
    }),
  )

  it.effect("sends a refund that waits to be sent", () => {
    const fake = new FakeProvider()
    return Effect.gen(function* () {
      const snapshot = yield* refunded(fake, Effect.void)
      assert.deepStrictEqual(yield* inFork(snapshot), { status: ["succeeded"], amountDue: 500n })
      assert.deepStrictEqual(fake.refunds, [])
    })
  })

  it.effect("lets a refund succeed that the provider has named and not decided yet", () => {
    const fake = new FakeProvider({ refundOutcomeOf: () => "pending" })
    return Effect.gen(function* () {
      const snapshot = yield* refunded(fake, runDue)
      assert.deepStrictEqual(yield* inFork(snapshot), { status: ["succeeded"], amountDue: 500n })
      assert.deepStrictEqual(
        fake.refunds.map(({ status }) => status),
        ["pending"],
      )
    })
  })
})
