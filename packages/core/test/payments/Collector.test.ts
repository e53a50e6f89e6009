import { type AttemptPayment, BillingRuns, type FakeOptions, FakeProvider } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import {
  advanceTo,
  declined,
  events,
  inHours,
  look,
  outcomes,
  script,
  SOON,
  subscribe,
  typesOf,
  withProvider,
} from "./collecting.ts"

describe("with a provider", () => {
  it.effect("an invoice is paid when it is issued", () => {
    const provider = new FakeProvider()
    return Effect.gen(function* () {
      const customer = yield* subscribe
      yield* advanceTo(SOON)
      const { booked, invoice, payments, taken } = yield* look(provider)
      assert.deepInclude(invoice, { status: "paid", collection: "paid", amountPaid: 2_000n })
      assert.lengthOf(payments, 1)
      assert.deepInclude(payments[0], { provider: "fake", applied: 2_000n, customerId: customer.id })
      assert.notProperty(payments[0], "collection")
      assert.deepStrictEqual(booked, taken)
      assert.deepStrictEqual(yield* typesOf, ["payment.succeeded", "invoice.paid"])
      assert.isTrue(Option.isSome(yield* (yield* BillingRuns).nextDueAt))
    }).pipe(withProvider(provider))
  })

  it.effect("a declined payment is tried again 1, 3, 5 and 7 days later at 09:00, and then given up", () => {
    const provider = new FakeProvider({ outcomeOf: () => declined("insufficient_funds") })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(provider)).invoice.collection, "retrying")
      yield* advanceTo(inHours(24 * 20))
      const failures = (yield* events).filter(({ type }) => type === "payment.failed")
      assert.deepStrictEqual(
        failures.map(({ at: when, data }) => [
          when,
          data.failure_code,
          data.will_retry,
          data.next_attempt_at,
        ]),
        [
          ["2026-11-21T12:00:00.000Z", "insufficient_funds", true, "2026-11-22T08:00:00.000Z"],
          ["2026-11-22T08:00:00.000Z", "insufficient_funds", true, "2026-11-24T08:00:00.000Z"],
          ["2026-11-24T08:00:00.000Z", "insufficient_funds", true, "2026-11-26T08:00:00.000Z"],
          ["2026-11-26T08:00:00.000Z", "insufficient_funds", true, "2026-11-28T08:00:00.000Z"],
          ["2026-11-28T08:00:00.000Z", "insufficient_funds", false, null],
        ],
      )
      assert.strictEqual((yield* typesOf).at(-1), "invoice.collection_exhausted")
      const { invoice } = yield* look(provider)
      assert.deepInclude(invoice, { status: "open", collection: "exhausted", amountPaid: 0n })
      assert.deepStrictEqual(invoice.availableActions, ["pay", "credit", "void", "mark_uncollectible"])
    }).pipe(withProvider(provider))
  })

  it.effect("a declined payment that succeeds later pays the invoice once", () => {
    const provider = new FakeProvider({ outcomeOf: outcomes(declined("do_not_honor")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(24))
      const { invoice, payments } = yield* look(provider)
      assert.strictEqual(invoice.status, "paid")
      assert.lengthOf(payments, 1)
      assert.lengthOf(provider.payments[0]!.attempts, 2)
      assert.deepStrictEqual(yield* typesOf, ["payment.failed", "payment.succeeded", "invoice.paid"])
    }).pipe(withProvider(provider))
  })

  it.effect("without a method the customer is waited for, and a bank is read once a day", () => {
    const provider = new FakeProvider({ outcomeOf: outcomes({ status: "processing" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const processing = yield* look(provider)
      assert.strictEqual(processing.invoice.collection, "processing")
      assert.notInclude(processing.invoice.availableActions, "void")
      provider.settle(provider.payments[0]!.reference, { code: "no_method" })
      yield* advanceTo(inHours(25))
      assert.strictEqual((yield* look(provider)).invoice.collection, "awaiting_method")
      assert.deepStrictEqual(yield* typesOf, ["payment.processing", "payment.failed"])
    }).pipe(withProvider(provider))
  })
})

describe("faults of the provider", () => {
  const cases: ReadonlyArray<readonly [string, FakeOptions["faultOf"] & {}, ReadonlyArray<string>]> = [
    ["an answer that is lost", script({ attemptPayment: ["lose_reply"] }), ["payment.unresolved"]],
    ["a request that is lost", script({ attemptPayment: ["lose_request"] }), ["payment.unresolved"]],
    [
      "answers and reads that are lost",
      script({ attemptPayment: ["lose_reply"], readPayment: ["lose_reply", "refuse", "lose_request"] }),
      ["payment.unresolved"],
    ],
    ["a request that arrives twice", script({ attemptPayment: ["twice"], openPayment: ["twice"] }), []],
    ["an answer of earlier", script({ attemptPayment: ["late"] }), ["payment.unresolved"]],
    [
      "a provider that is busy",
      script({ openPayment: ["refuse"], attemptPayment: ["refuse", "refuse"] }),
      [],
    ],
    ["an opening whose answer is lost", script({ openPayment: ["lose_reply", "lose_request"] }), []],
  ]
  it.effect.each([...cases])("%s: the invoice is paid, and charged once", ([, faultOf, before]) => {
    const provider = new FakeProvider({ faultOf })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(24))
      const { booked, invoice, taken } = yield* look(provider)
      assert.strictEqual(invoice.status, "paid")
      assert.deepStrictEqual(booked, taken)
      assert.lengthOf(taken, 1)
      assert.deepStrictEqual(yield* typesOf, [...before, "payment.succeeded", "invoice.paid"])
    }).pipe(withProvider(provider))
  })

  it.effect(
    "an outcome that stays unknown blocks other attempts, and a person has to look after 5 days",
    () => {
      const provider = new FakeProvider({
        faultOf: (call) => (call === "openPayment" ? undefined : "lose_reply"),
      })
      return Effect.gen(function* () {
        yield* subscribe
        yield* advanceTo(inHours(24))
        const waiting = yield* look(provider)
        assert.strictEqual(waiting.invoice.collection, "unresolved")
        yield* advanceTo(inHours(24 * 8))
        const { invoice } = yield* look(provider)
        assert.deepInclude(invoice, { status: "open", collection: "needs_attention" })
        assert.notInclude(invoice.availableActions, "void")
        assert.lengthOf(provider.payments[0]!.attempts, 1)
      }).pipe(withProvider(provider))
    },
  )

  it.effect("a provider that refuses for good needs attention, and nothing was taken", () => {
    const provider = new FakeProvider({ faultOf: () => "break" })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(provider)).invoice.collection, "needs_attention")
    }).pipe(withProvider(provider))
  })

  it.effect("a provider that never answers in a call is left after a minute", () => {
    let isSilent = true
    class SilentProvider extends FakeProvider {
      override attemptPayment(one: AttemptPayment) {
        return Effect.flatMap(super.attemptPayment(one), (read) =>
          isSilent ? Effect.never : Effect.succeed(read),
        )
      }
    }
    const fake = new SilentProvider()
    return Effect.gen(function* () {
      yield* subscribe
      const running = yield* Effect.forkChild((yield* BillingRuns).runDue())
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual((yield* look(fake)).invoice.collection, "collecting")
      yield* TestClock.adjust("1 second")
      isSilent = false
      yield* Effect.yieldNow
      assert.strictEqual((yield* look(fake)).invoice.collection, "unresolved")
      yield* advanceTo(SOON)
      const { booked, invoice, taken } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.deepStrictEqual(booked, taken)
      yield* Effect.exit(Fiber.join(running))
    }).pipe(withProvider(fake))
  })
})
