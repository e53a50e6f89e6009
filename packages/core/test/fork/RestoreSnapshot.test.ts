import {
  BillingRuns,
  type CustomerSnapshot,
  type FakeProvider as Fake,
  FakeProvider,
  forkProvider,
  Invoices,
  Payments,
  Refunds,
  restoreSnapshot,
  takeSnapshot,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { advanceTo, SOON, subscribe, withProvider } from "../payments/collecting.ts"

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

describe("a fork", () => {
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
