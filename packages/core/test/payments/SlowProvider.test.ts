/**
 * Providers that are slow: their calls hold up nothing else, and only so many are made at the same time.
 */
import {
  BillingRuns,
  CALLS_AT_ONCE,
  FakeProvider,
  Invoices,
  type OpenPayment,
  Plans,
  Subscriptions,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { newCustomer } from "../world.ts"
import { look, PLAN, withProvider } from "./collecting.ts"

const CUSTOMERS = 20

/** A provider that never answers when a payment is opened. It counts the calls that wait. */
class SilentProvider extends FakeProvider {
  isSilent = true
  waiting = 0
  most = 0

  override openPayment(payment: OpenPayment) {
    const waits = Effect.suspend(() => {
      this.most = Math.max(this.most, ++this.waiting)
      return Effect.ensuring(
        Effect.never,
        Effect.sync(() => this.waiting--),
      )
    })
    return Effect.suspend(() => (this.isSilent ? waits : super.openPayment(payment)))
  }
}

const subscribed = Effect.gen(function* () {
  const customer = yield* newCustomer()
  yield* (yield* Subscriptions).create({ customerId: customer.id, plan: PLAN.key })
  return customer
})

describe("a provider that never answers", () => {
  it.effect("holds up no invoice of another customer, and gets so many calls at once", () => {
    const provider = new SilentProvider()
    return Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [PLAN] })
      for (let n = 0; n < CUSTOMERS; n++) yield* subscribed
      // Which poll makes a call depends on how many steps the invoices before it take.
      for (let polls = 0; polls < 12 && provider.waiting < CALLS_AT_ONCE; polls++)
        yield* TestClock.adjust("5 seconds")
      assert.strictEqual(provider.waiting, CALLS_AT_ONCE)
      const late = yield* subscribed
      yield* TestClock.adjust("6 seconds")
      const { data } = yield* (yield* Invoices).list({ customerId: late.id })
      assert.strictEqual(data[0]?.status, "open")
      provider.isSilent = false
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual(provider.most, CALLS_AT_ONCE)
      assert.lengthOf(provider.payments, CUSTOMERS + 1)
      for (const { status } of (yield* (yield* Invoices).list({ limit: 100 })).data) {
        assert.strictEqual(status, "paid")
      }
      yield* look(provider)
    }).pipe(Effect.provide(BillingRuns.layer), withProvider(provider))
  })
})

describe("a run with a limit", () => {
  it.effect("does no more of both lanes together", () => {
    const provider = new FakeProvider()
    return Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [PLAN] })
      for (let n = 0; n < 3; n++) yield* subscribed
      const { runDue } = yield* BillingRuns
      const { hasMore, invoices } = yield* runDue({ limit: 2 })
      assert.deepStrictEqual([hasMore, invoices], [true, 2])
      assert.lengthOf(provider.payments, 0)
      for (let n = 0; n < 20; n++) if (!(yield* runDue({ limit: 2 })).hasMore) break
      for (const { status } of (yield* (yield* Invoices).list()).data) assert.strictEqual(status, "paid")
    }).pipe(withProvider(provider))
  })

  it.effect("does what is in one lane", () => {
    const provider = new FakeProvider()
    return Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [PLAN] })
      yield* subscribed
      const { runDue } = yield* BillingRuns
      yield* runDue({ lane: "billing" })
      assert.lengthOf(provider.payments, 0)
      yield* runDue({ lane: "calls" })
      assert.strictEqual(provider.payments[0]?.charges, 1)
    }).pipe(withProvider(provider))
  })
})
