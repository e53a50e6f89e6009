/**
 * The contract of payment providers: refunds and disputes.
 */
import type { ProviderRefund, RefundPayment } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { openedTest, paidTest, type TestProvider } from "./ProviderWorld.ts"

/** Refunds of a payment have different names. */
const idOf = (paymentReference: string, name: string): string => `ref_${name}_${paymentReference.slice(-40)}`

const refundOf = (paymentReference: string, name: string, amount: bigint): RefundPayment => ({
  refundId: idOf(paymentReference, name),
  paymentReference,
  amount,
  currency: "EUR",
})

/** Registers the tests of refunds and disputes. */
export const refundTests = (make: () => TestProvider): void => {
  const test = paidTest(make)

  test("the same refund 20 times, at once and later, gives money back once", (given) =>
    Effect.gen(function* () {
      const { provider, reference, refunded } = given
      const refund = provider.refund(refundOf(reference, "1", 500n))
      const answers: ReadonlyArray<ProviderRefund> = yield* Effect.all(
        Array.from({ length: 19 }, () => refund),
        { concurrency: "unbounded" },
      )
      const last = yield* refund
      assert.deepInclude(last, {
        paymentReference: reference,
        refundId: idOf(reference, "1"),
        amount: 500n,
        currency: "EUR",
        status: "succeeded",
        code: null,
      })
      for (const answer of answers) assert.deepStrictEqual(answer, last)
      assert.strictEqual(refunded(reference), 500n)
      assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "succeeded" })
    }))

  test("refunds of the same amount with different ids are different refunds", (given) =>
    Effect.gen(function* () {
      const { provider, reference, refunded } = given
      const first = yield* provider.refund(refundOf(reference, "1", 500n))
      const second = yield* provider.refund(refundOf(reference, "2", 500n))
      assert.notStrictEqual(first.reference, second.reference)
      assert.strictEqual(refunded(reference), 1_000n)
    }))

  test("a refund that is larger than what is left fails, and gives nothing back", (given) =>
    Effect.gen(function* () {
      const { provider, reference, refunded } = given
      yield* provider.refund(refundOf(reference, "1", 1_500n))
      const tooLarge = yield* provider.refund(refundOf(reference, "2", 501n))
      assert.deepInclude(tooLarge, {
        status: "failed",
        code: "amount_too_large",
        refundId: idOf(reference, "2"),
      })
      assert.strictEqual(refunded(reference), 1_500n)
      yield* provider.refund(refundOf(reference, "3", 500n))
      assert.strictEqual(refunded(reference), 2_000n)
    }))

  openedTest(make)("a payment that has not succeeded is not refunded", (given) =>
    Effect.gen(function* () {
      const { provider, reference, refunded } = given
      const refund = yield* provider.refund(refundOf(reference, "1", 500n))
      assert.strictEqual(refund.status, "failed")
      assert.strictEqual(refunded(reference), 0n)
    }),
  )

  test("a refund whose answer is lost is unknown, and is found by its id", (given) =>
    Effect.gen(function* () {
      const { fail, provider, reference, refunded } = given
      fail("refund", "lose_reply")
      const refund = refundOf(reference, "1", 500n)
      assert.strictEqual((yield* Effect.flip(provider.refund(refund))).reason, "unknown")
      const read = yield* provider.readRefund({ paymentReference: reference, refundId: idOf(reference, "1") })
      assert.deepInclude(read, { status: "succeeded", refundId: idOf(reference, "1"), amount: 500n })
      assert.deepStrictEqual(yield* provider.readRefund({ reference: read?.reference ?? "" }), read)
      assert.strictEqual(refunded(reference), 500n)
    }))

  test("a refund that never arrived is not there, and is sent again", (given) =>
    Effect.gen(function* () {
      const { fail, provider, reference, refunded } = given
      fail("refund", "lose_request")
      const refund = refundOf(reference, "1", 500n)
      assert.strictEqual((yield* Effect.flip(provider.refund(refund))).reason, "unknown")
      assert.isNull(
        yield* provider.readRefund({ paymentReference: reference, refundId: idOf(reference, "1") }),
      )
      yield* provider.refund(refund)
      assert.strictEqual(refunded(reference), 500n)
    }))

  for (const outcome of ["succeeded", "failed"] as const) {
    test(`a refund that is pending has ${outcome} later`, (given) =>
      Effect.gen(function* () {
        const { nextRefundPends, provider, reference, refunded, settleRefund } = given
        nextRefundPends()
        const pending = yield* provider.refund(refundOf(reference, "1", 500n))
        assert.deepInclude(pending, { status: "pending", code: null })
        const named = pending.reference ?? ""
        settleRefund(named, outcome)
        const read = yield* provider.readRefund({ reference: named })
        assert.strictEqual(read?.status, outcome)
        assert.strictEqual(read?.code === null, outcome === "succeeded")
        assert.strictEqual(refunded(reference), outcome === "succeeded" ? 500n : 0n)
      }))
  }

  for (const status of ["won", "lost"] as const) {
    test(`a dispute is open, and then ${status}`, ({ closeDispute, dispute, provider, reference }) =>
      Effect.gen(function* () {
        const disputed = dispute(reference)
        const open = yield* provider.readDispute(disputed)
        assert.deepInclude(open, {
          reference: disputed,
          paymentReference: reference,
          amount: 2_000n,
          currency: "EUR",
          status: "open",
        })
        closeDispute(disputed, status)
        assert.deepStrictEqual(yield* provider.readDispute(disputed), { ...open!, status })
      }))
  }

  test("refunds and disputes that are not there are none", ({ provider, reference }) =>
    Effect.gen(function* () {
      assert.isNull(
        yield* provider.readRefund({ paymentReference: reference, refundId: idOf(reference, "1") }),
      )
      assert.isNull(yield* provider.readRefund({ reference: "re_of_nobody" }))
      assert.isNull(yield* provider.readDispute("dp_of_nobody"))
    }))
}
