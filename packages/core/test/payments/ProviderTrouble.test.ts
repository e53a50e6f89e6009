/**
 * Providers that break their promises: they hang, throw, interrupt themselves, or lose every request.
 */
import { BillingRuns, FakeProvider, type PaymentProvider, Payments } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  advanceTo,
  declined,
  events,
  inHours,
  look,
  SOON,
  subscribe,
  typesOf,
  withProvider,
} from "./collecting.ts"

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

describe("an answer of a provider", () => {
  const decline = { status: "declined", code: "insufficient_funds", advice: null, notBefore: null } as const
  const broken: ReadonlyArray<readonly [string, object]> = [
    ["no state", {}],
    ["an unknown state", { status: "paid" }],
    ["a decline without an attempt", decline],
    ["an unknown advice", { ...decline, attemptId: "att_1", advice: "wait" }],
    ["a fraction of a millisecond", { ...decline, attemptId: "att_1", notBefore: 1_795_600_000_000.5 }],
    ["an instant that is no number", { ...decline, attemptId: "att_1", notBefore: Number.NaN }],
    ["an instant in a thousand years", { ...decline, attemptId: "att_1", notBefore: 33_000_000_000_000 }],
  ]
  it.effect.each([...broken])("with %s leaves the outcome unknown, and the payment is read", ([, answer]) => {
    const fake = new FakeProvider()
    let isFirst = true
    const provider = changed(fake, {
      attemptPayment: (attempt) =>
        Effect.map(fake.attemptPayment(attempt), (read) => {
          if (!isFirst) return read
          isFirst = false
          return answer as typeof read
        }),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(fake)).invoice.status, "paid")
      assert.deepStrictEqual(yield* typesOf, ["payment.unresolved", "payment.succeeded", "invoice.paid"])
    }).pipe(withProvider(provider))
  })

  const codes: ReadonlyArray<readonly [string, string]> = [
    ["a\0b", "a b"],
    ["", "declined"],
    ["\0", "declined"],
    ["a\ud800", "a\ufffd"],
    [`${"x".repeat(99)}😀y`, `${"x".repeat(99)}😀`],
    ["😀".repeat(5_000), "😀".repeat(100)],
    ["__proto__", "__proto__"],
  ]
  it.effect.each([...codes])("with the code %j is booked as declined", ([code, kept]) => {
    const fake = new FakeProvider({ outcomeOf: () => declined(code) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(fake)).invoice.collection, "retrying")
      const failed = (yield* events).find(({ type }) => type === "payment.failed")
      assert.strictEqual(failed?.data.failure_code, kept)
    }).pipe(withProvider(fake))
  })

  it.effect.each(["", "x".repeat(256), "a\0b", "a\ud800"])(
    "with the reference %j is not taken",
    (reference) => {
      const fake = new FakeProvider()
      const provider = changed(fake, { openPayment: () => Effect.succeed({ reference }) })
      return Effect.gen(function* () {
        yield* subscribe
        yield* advanceTo(inHours(10 * DAYS))
        const { invoice, payments } = yield* look(fake)
        assert.strictEqual(invoice.collection, "needs_attention")
        assert.isNull(payments[0]?.reference)
      }).pipe(withProvider(provider))
    },
  )

  it.effect("to closing that is neither yes nor no closes nothing", () => {
    const fake = new FakeProvider({ outcomeOf: () => ({ status: "requires_action" }) })
    const provider = changed(fake, { closePayment: () => Effect.succeed("ok" as "closed") })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      yield* (yield* Payments).record({ invoiceId: (yield* look(fake)).invoice.id })
      yield* advanceTo(inHours(5))
      const { payments } = yield* look(fake)
      assert.strictEqual(payments.find(({ provider: by }) => by === "fake")?.status, "open")
    }).pipe(withProvider(provider))
  })
})

describe("a provider that is not there any more", () => {
  it.effect("is not called, and nothing is stored as sent", () => {
    const fake = new FakeProvider()
    let name = "fake"
    const provider: PaymentProvider = {
      ...changed(fake, {}),
      get name() {
        return name
      },
    }
    return Effect.gen(function* () {
      yield* subscribe
      const { runDue } = yield* BillingRuns
      for (let n = 0; n < 3 && fake.payments.length === 0; n++) yield* runDue({ limit: 1 })
      assert.lengthOf(fake.payments, 1)
      name = "other"
      yield* advanceTo(SOON)
      const { invoice } = yield* look(fake)
      assert.strictEqual(invoice.collection, "collecting")
      assert.lengthOf(fake.payments[0]!.attempts, 0)
      assert.deepStrictEqual(yield* typesOf, [])
      name = "fake"
      yield* advanceTo(inHours(DAYS))
      assert.strictEqual((yield* look(fake)).invoice.status, "paid")
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
