/**
 * The contract of payment providers, as a test suite for every adapter of one.
 */
import { IdGenerator, Payment } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as MethodProviderContract from "./MethodProviderContract.ts"
import { noticeTests } from "./NoticeContract.ts"
import { attemptOf, openedTest, paying, paymentOf, type TestProvider } from "./ProviderWorld.ts"
import { refundTests } from "./RefundContract.ts"

export type { NoticeSigning, ProviderLever, TestCustomer, TestProvider } from "./ProviderWorld.ts"

const CURRENCIES = ["EUR", "USD", "JPY", "KWD", "CLP"]

/** Registers the tests that every provider has to pass, under `describe(name)`. Each makes a provider of its own. */
export const suite = (name: string, make: () => TestProvider): void => {
  const test = openedTest(make)

  describe(name, () => {
    MethodProviderContract.chargeable(make)
    if (make().provider.methods !== undefined) MethodProviderContract.methods(make)
    refundTests(make)
    noticeTests(make)

    test("opening moves no money, and the same payment is opened once", ({
      charges,
      payment,
      provider,
      reference,
    }) =>
      Effect.gen(function* () {
        assert.isAtMost(reference.length, Payment.MAX_REFERENCE_LENGTH)
        assert.deepStrictEqual(yield* provider.openPayment(payment), { reference })
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "open" })
        assert.strictEqual(charges(reference), 0)
      }))

    test("the same attempt 20 times, at once and later, is one charge", (given) =>
      Effect.gen(function* () {
        const { charges, provider, reference } = given
        const attempt = provider.attemptPayment(attemptOf(given, "1"))
        yield* Effect.all(
          Array.from({ length: 19 }, () => attempt),
          { concurrency: "unbounded" },
        )
        assert.deepStrictEqual(yield* attempt, { status: "succeeded" })
        assert.strictEqual(charges(reference), 1)
      }))

    test("a payment that has succeeded does not succeed again with another attempt", (given) =>
      Effect.gen(function* () {
        const { charges, provider, reference } = given
        for (const name of ["1", "2"]) {
          yield* Effect.exit(provider.attemptPayment(attemptOf(given, name)))
        }
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "succeeded" })
        assert.strictEqual(charges(reference), 1)
      }))

    test("an attempt whose answer is lost is unknown, and is seen when it is read", (given) =>
      Effect.gen(function* () {
        const { charges, fail, provider, reference } = given
        fail("attemptPayment", "lose_reply")
        const lost = yield* Effect.flip(provider.attemptPayment(attemptOf(given, "1")))
        assert.strictEqual(lost.reason, "unknown")
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "succeeded" })
        assert.strictEqual(charges(reference), 1)
      }))

    test("an attempt that never arrived leaves the payment open, and is sent again", (given) =>
      Effect.gen(function* () {
        const { charges, fail, provider, reference } = given
        fail("attemptPayment", "lose_request")
        const attempt = provider.attemptPayment(attemptOf(given, "1"))
        assert.strictEqual((yield* Effect.flip(attempt)).reason, "unknown")
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "open" })
        assert.deepStrictEqual(yield* attempt, { status: "succeeded" })
        assert.strictEqual(charges(reference), 1)
      }))

    test("a decline names its attempt and its code, and another attempt may succeed", (given) =>
      Effect.gen(function* () {
        const { charges, next, provider, reference } = given
        next("insufficient_funds")
        const attempt = attemptOf(given, "1")
        const declined = yield* provider.attemptPayment(attempt)
        const { attemptId } = attempt
        assert.deepInclude(declined, { status: "declined", attemptId, code: "insufficient_funds" })
        assert.deepStrictEqual(yield* provider.readPayment(reference), declined)
        const again = yield* provider.attemptPayment(attemptOf(given, "2"))
        assert.deepStrictEqual(again, { status: "succeeded" })
        assert.strictEqual(charges(reference), 1)
      }))

    for (const status of ["processing", "requires_action"] as const) {
      test(`a payment that is ${status} succeeds later, once`, (given) =>
        Effect.gen(function* () {
          const { charges, next, provider, reference, settle } = given
          next(status)
          const presence = status === "requires_action" ? "on_session" : "off_session"
          const read = yield* provider.attemptPayment({ ...attemptOf(given, "1"), presence })
          assert.strictEqual(read.status, status)
          assert.deepStrictEqual(yield* provider.readPayment(reference), { status })
          assert.strictEqual(charges(reference), 0)
          settle(reference)
          assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "succeeded" })
          assert.strictEqual(charges(reference), 1)
        }))
    }

    test("an attempt takes the place of one that waits for the customer", (given) =>
      Effect.gen(function* () {
        const { charges, next, provider, reference } = given
        next("requires_action")
        yield* provider.attemptPayment({ ...attemptOf(given, "1"), presence: "on_session" })
        next("insufficient_funds")
        const { attemptId } = attemptOf(given, "2")
        const declined = yield* provider.attemptPayment(attemptOf(given, "2"))
        assert.deepInclude(declined, { status: "declined", attemptId, code: "insufficient_funds" })
        assert.deepStrictEqual(yield* provider.readPayment(reference), declined)
        assert.strictEqual(charges(reference), 0)
      }))

    test("a closed payment never succeeds, and closing it again is fine", (given) =>
      Effect.gen(function* () {
        const { charges, provider, reference } = given
        assert.strictEqual(yield* provider.closePayment(reference), "closed")
        assert.strictEqual(yield* provider.closePayment(reference), "closed")
        yield* Effect.exit(provider.attemptPayment(attemptOf(given, "1")))
        assert.strictEqual(charges(reference), 0)
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "closed" })
      }))

    test("closing against an attempt has one winner", (given) =>
      Effect.gen(function* () {
        const { charges, provider, reference } = given
        const attempt = provider.attemptPayment(attemptOf(given, "1"))
        const [closed] = yield* Effect.all([provider.closePayment(reference), Effect.exit(attempt)], {
          concurrency: "unbounded",
        })
        assert.strictEqual(charges(reference), closed === "closed" ? 0 : 1)
        yield* attempt.pipe(Effect.exit)
        assert.strictEqual(yield* provider.closePayment(reference), closed)
      }))

    it.effect("payments of several currencies don't mix", () =>
      Effect.gen(function* () {
        const made = make()
        const { charges, provider } = made
        const by = yield* paying(made)
        const references: Array<string> = []
        for (const currency of CURRENCIES) {
          const { reference } = yield* provider.openPayment(yield* paymentOf(currency, by))
          references.push(reference)
        }
        assert.strictEqual(new Set(references).size, CURRENCIES.length)
        const attempt = attemptOf({ ...by, reference: references[0]! }, "1")
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(provider.attemptPayment(attempt))))
        assert.deepStrictEqual(references.map(charges), [1, 0, 0, 0, 0])
      }).pipe(Effect.provide(IdGenerator.layer)),
    )
  })
}
