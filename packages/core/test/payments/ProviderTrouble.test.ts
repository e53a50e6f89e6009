/**
 * Providers that break their promises: they hang, throw, interrupt themselves, or lose every request.
 */
import { BillingRuns, FakeProvider, type PaymentProvider } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { advanceTo, inHours, look, SOON, subscribe, typesOf, withProvider } from "./collecting.ts"

const DAYS = 24

/** A provider with some calls of its own. */
const changed = (fake: FakeProvider, change: Partial<PaymentProvider>): PaymentProvider => ({
  name: fake.name,
  chargeable: (money) => fake.chargeable(money),
  openPayment: (payment) => fake.openPayment(payment),
  attemptPayment: (attempt) => fake.attemptPayment(attempt),
  readPayment: (reference) => fake.readPayment(reference),
  closePayment: (reference) => fake.closePayment(reference),
  refund: (refund) => fake.refund(refund),
  readRefund: (query) => fake.readRefund(query),
  readDispute: (reference) => fake.readDispute(reference),
  receive: (request, now) => fake.receive(request, now),
  ...change,
})

describe("a provider that loses every request", () => {
  it.effect("is called at growing distances, and after 10 days a person has to look", () => {
    let calls = 0
    const fake = new FakeProvider({
      faultOf: (call) => {
        if (call !== "attemptPayment") return undefined
        calls++
        return "lose_request"
      },
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(3 * DAYS))
      // After 0 s, 90 s, 5 m, 30 m, 2 h, 12 h, and then daily.
      assert.strictEqual(calls, 8)
      yield* advanceTo(inHours(30 * DAYS - 1))
      assert.strictEqual(calls, 11)
      const { invoice } = yield* look(fake)
      assert.strictEqual(invoice.collection, "needs_attention")
    }).pipe(withProvider(fake))
  })
})

describe("a payment that somebody closes at the provider", () => {
  it.effect("needs attention after one call", () => {
    let calls = 0
    const fake = new FakeProvider({
      faultOf: (call) => {
        if (call === "attemptPayment") calls++
        return undefined
      },
    })
    const provider = changed(fake, {
      openPayment: (payment) =>
        Effect.tap(fake.openPayment(payment), ({ reference }) => fake.closePayment(reference)),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(3 * DAYS))
      assert.strictEqual(calls, 1)
      const { invoice, payments } = yield* look(fake)
      assert.deepInclude(invoice, { status: "open", collection: "needs_attention" })
      assert.strictEqual(payments[0]?.status, "closed")
    }).pipe(withProvider(provider))
  })
})

describe("a provider whose call", () => {
  const calls: ReadonlyArray<readonly [string, () => Effect.Effect<never>]> = [
    ["never ends", () => Effect.never],
    ["never ends, and can't be interrupted", () => Effect.uninterruptible(Effect.never)],
    ["never ends to clean up", () => Effect.onInterrupt(Effect.never, () => Effect.never)],
    ["is a promise that never settles", () => Effect.promise(() => new Promise<never>(() => {}))],
    ["is interrupted by itself", () => Effect.interrupt],
    ["dies", () => Effect.die(new Error("it broke"))],
    [
      "throws",
      () => {
        throw new Error("it broke")
      },
    ],
  ]
  it.effect.each([...calls])("%s has an unknown outcome, and the run goes on", ([, call]) => {
    const fake = new FakeProvider()
    let isBroken = true
    const provider = changed(fake, {
      attemptPayment: (attempt) => {
        if (!isBroken) return fake.attemptPayment(attempt)
        isBroken = false
        return call()
      },
    })
    return Effect.gen(function* () {
      yield* subscribe
      // Detached: if it hung, the test would wait for it.
      const running = yield* Effect.forkDetach((yield* BillingRuns).runDue())
      yield* TestClock.adjust("61 seconds")
      assert.isDefined(running.pollUnsafe())
      assert.strictEqual((yield* look(fake)).invoice.collection, "unresolved")
      yield* advanceTo(SOON)
      const { booked, invoice, taken } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.deepStrictEqual(booked, taken)
      assert.deepStrictEqual(yield* typesOf, ["payment.unresolved", "payment.succeeded", "invoice.paid"])
    }).pipe(withProvider(provider))
  })
})
