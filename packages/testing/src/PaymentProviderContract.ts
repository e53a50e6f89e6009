/**
 * The contract of payment providers, as a test suite for every adapter of one.
 */
import {
  IdGenerator,
  Invoice,
  type OpenPayment,
  Payment,
  type PaymentProvider,
  type PaymentRead,
  type ProviderCall,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as Sample from "./Sample.ts"

/** What the suite makes go wrong, once and with the next call of a kind. */
export type ProviderLever = "lose_request" | "lose_reply"

/** A provider with levers, and what it took. */
export interface TestProvider {
  readonly provider: PaymentProvider
  /** Makes the next call of a kind go wrong. */
  readonly fail: (call: ProviderCall, lever: ProviderLever) => void
  /** Makes the next new attempt end so. Others succeed. */
  readonly next: (outcome: "processing" | "requires_action" | "insufficient_funds") => void
  /** The customer or a bank does what a payment waits for. */
  readonly settle: (reference: string) => void
  /** How often money was taken for a payment. */
  readonly charges: (reference: string) => number
}

const CURRENCIES = ["EUR", "USD", "JPY", "KWD", "CLP"]

/** A payment of 20.00, or of what 2,000 of the minor unit are. */
const paymentOf = Effect.fnUntraced(function* (currency: string) {
  const ids = yield* IdGenerator
  const payment: OpenPayment = {
    paymentId: Payment.PaymentId.make(yield* ids.next(Payment.PAYMENT_ID_PREFIX)),
    invoiceId: Invoice.InvoiceId.make(yield* ids.next(Invoice.INVOICE_ID_PREFIX)),
    customerId: yield* Sample.customerId,
    amount: 2_000n,
    currency,
  }
  return payment
})

/** Registers the tests that every provider has to pass, under `describe(name)`. Each makes a provider of its own. */
export const suite = (name: string, make: () => TestProvider): void => {
  /** A test with an open payment. */
  const test = (
    title: string,
    body: (
      test: TestProvider & { readonly payment: OpenPayment; readonly reference: string },
    ) => Effect.Effect<unknown, unknown>,
  ) =>
    it.effect(title, () =>
      Effect.gen(function* () {
        const made = make()
        const payment = yield* paymentOf("EUR")
        const { reference } = yield* made.provider.openPayment(payment)
        yield* body({ ...made, payment, reference })
      }).pipe(Effect.provide(IdGenerator.layer)),
    )

  describe(name, () => {
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

    test("the same attempt 20 times, at once and later, is one charge", ({ charges, provider, reference }) =>
      Effect.gen(function* () {
        const attempt = provider.attemptPayment({ reference, attemptId: "att_1", method: null })
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
        for (const attemptId of ["att_1", "att_2"]) {
          yield* Effect.exit(provider.attemptPayment({ reference, attemptId, method: null }))
        }
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "succeeded" })
        assert.strictEqual(charges(reference), 1)
      }))

    test("an attempt whose answer is lost is unknown, and is seen when it is read", (given) =>
      Effect.gen(function* () {
        const { charges, fail, provider, reference } = given
        fail("attemptPayment", "lose_reply")
        const lost = yield* Effect.flip(
          provider.attemptPayment({ reference, attemptId: "att_1", method: null }),
        )
        assert.strictEqual(lost.reason, "unknown")
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "succeeded" })
        assert.strictEqual(charges(reference), 1)
      }))

    test("an attempt that never arrived leaves the payment open, and is sent again", (given) =>
      Effect.gen(function* () {
        const { charges, fail, provider, reference } = given
        fail("attemptPayment", "lose_request")
        const attempt = provider.attemptPayment({ reference, attemptId: "att_1", method: null })
        assert.strictEqual((yield* Effect.flip(attempt)).reason, "unknown")
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "open" })
        assert.deepStrictEqual(yield* attempt, { status: "succeeded" })
        assert.strictEqual(charges(reference), 1)
      }))

    test("a decline names its attempt and its code, and another attempt may succeed", (given) =>
      Effect.gen(function* () {
        const { charges, next, provider, reference } = given
        next("insufficient_funds")
        const declined = yield* provider.attemptPayment({ reference, attemptId: "att_1", method: null })
        assert.deepInclude(declined, { status: "declined", attemptId: "att_1", code: "insufficient_funds" })
        assert.deepStrictEqual(yield* provider.readPayment(reference), declined)
        const again = yield* provider.attemptPayment({ reference, attemptId: "att_2", method: null })
        assert.deepStrictEqual(again, { status: "succeeded" })
        assert.strictEqual(charges(reference), 1)
      }))

    for (const status of ["processing", "requires_action"] as const) {
      test(`a payment that is ${status} succeeds later, once`, ({
        charges,
        next,
        provider,
        reference,
        settle,
      }) =>
        Effect.gen(function* () {
          next(status)
          const read: PaymentRead = yield* provider.attemptPayment({
            reference,
            attemptId: "att_1",
            method: null,
          })
          assert.deepStrictEqual(read, { status })
          assert.strictEqual(charges(reference), 0)
          settle(reference)
          assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "succeeded" })
          assert.strictEqual(charges(reference), 1)
        }))
    }

    test("a closed payment never succeeds, and closing it again is fine", ({
      charges,
      provider,
      reference,
    }) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* provider.closePayment(reference), "closed")
        assert.strictEqual(yield* provider.closePayment(reference), "closed")
        yield* Effect.exit(provider.attemptPayment({ reference, attemptId: "att_1", method: null }))
        assert.strictEqual(charges(reference), 0)
      }))

    test("closing against an attempt has one winner", ({ charges, provider, reference }) =>
      Effect.gen(function* () {
        const attempt = provider.attemptPayment({ reference, attemptId: "att_1", method: null })
        const [closed] = yield* Effect.all([provider.closePayment(reference), Effect.exit(attempt)], {
          concurrency: "unbounded",
        })
        assert.strictEqual(charges(reference), closed === "closed" ? 0 : 1)
        yield* attempt.pipe(Effect.exit)
        assert.strictEqual(yield* provider.closePayment(reference), closed)
      }))

    it.effect("payments of several currencies don't mix", () =>
      Effect.gen(function* () {
        const { charges, provider } = make()
        const references: Array<string> = []
        for (const currency of CURRENCIES) {
          const { reference } = yield* provider.openPayment(yield* paymentOf(currency))
          references.push(reference)
        }
        assert.strictEqual(new Set(references).size, CURRENCIES.length)
        const attempt = { reference: references[0]!, attemptId: "att_1", method: null }
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(provider.attemptPayment(attempt))))
        assert.deepStrictEqual(references.map(charges), [1, 0, 0, 0, 0])
      }).pipe(Effect.provide(IdGenerator.layer)),
    )
  })
}
