import type { RefundPayment } from "@billwright/core"
import { KEY_MILLIS } from "@billwright/testing/stripe"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { fake, open, time } from "./AtFake.ts"

afterAll(() => fake.close())

/** A payment intent that has succeeded, and a refund of a part of it. */
const paid = Effect.fnUntraced(function* (params: { readonly amount: number; readonly currency: string }) {
  const at = open()
  const { id } = yield* Effect.promise(() =>
    at.client.paymentIntents.create({ ...params, payment_method: "pm_card_visa", confirm: true }),
  )
  const refund: RefundPayment = { refundId: "ref_1", paymentReference: id, amount: 500n, currency: "EUR" }
  return { ...at, refund, reference: id }
})

describe("refunds at Stripe", () => {
  it.effect("one that is there is not made again when Stripe has forgotten its key", () =>
    Effect.gen(function* () {
      const { account, provider, reference, refund } = yield* paid({ amount: 2_000, currency: "eur" })
      const first = yield* provider.refund(refund)
      time.now += KEY_MILLIS + 3_600_000
      assert.deepStrictEqual(yield* provider.refund(refund), first)
      assert.strictEqual(account.refunded(reference), 500)
    }),
  )

  it.effect("is found behind a hundred others", () =>
    Effect.gen(function* () {
      const { client, provider, reference, refund } = yield* paid({ amount: 99_999, currency: "eur" })
      const first = yield* provider.refund(refund)
      for (let index = 0; index < 101; index += 1) {
        yield* Effect.promise(() => client.refunds.create({ payment_intent: reference, amount: 1 }))
      }
      const read = yield* provider.readRefund({ paymentReference: reference, refundId: "ref_1" })
      assert.deepStrictEqual(read, first)
    }),
  )

  it.effect("amounts are those of ISO 4217", () =>
    Effect.gen(function* () {
      const { account, provider, reference } = yield* paid({ amount: 50_000, currency: "isk" })
      const refund = { refundId: "ref_1", paymentReference: reference, amount: 200n, currency: "ISK" }
      assert.deepInclude(yield* provider.refund(refund), { amount: 200n, currency: "ISK" })
      assert.strictEqual(account.refunded(reference), 20_000)
      const dispute = yield* provider.readDispute(account.dispute(reference).id)
      assert.deepInclude(dispute, { amount: 500n, currency: "ISK", status: "open" })
    }),
  )

  it.effect("a dispute that was prevented is lost if the customer has the money, and won if not", () =>
    Effect.gen(function* () {
      for (const [outcome, status] of [
        ["refunded", "lost"],
        ["prevented", "won"],
      ] as const) {
        const { account, client, provider, reference } = yield* paid({ amount: 2_000, currency: "eur" })
        const { id } = account.dispute(reference)
        account.closeDispute(id, outcome)
        const { status: atStripe } = yield* Effect.promise(() => client.disputes.retrieve(id))
        assert.strictEqual(atStripe, "prevented")
        assert.deepInclude(yield* provider.readDispute(id), { amount: 2_000n, status })
      }
    }),
  )

  it.effect("an amount that Stripe can't represent fails before anything is asked of it", () =>
    Effect.gen(function* () {
      for (const [currency, amount] of [
        ["KWD", 5_124n],
        ["MGA", 150n],
      ] as const) {
        const { account, provider, reference } = yield* paid({
          amount: 50_000,
          currency: currency.toLowerCase(),
        })
        const asked = account.requests.length
        const refund = { refundId: "ref_1", paymentReference: reference, amount, currency }
        const failed = { ...refund, reference: null, status: "failed" as const, code: "not_representable" }
        assert.deepStrictEqual(yield* provider.refund(refund), failed)
        assert.lengthOf(account.requests, asked)
      }
    }),
  )

  it.effect(
    "a disputed payment is not refunded, with the reason; one whose look-up is lost is sent again",
    () =>
      Effect.gen(function* () {
        const { account, provider, reference, refund } = yield* paid({ amount: 2_000, currency: "eur" })
        account.fail({ method: "GET", path: /refunds$/ }, "cut_body")
        assert.strictEqual((yield* Effect.flip(provider.refund(refund))).reason, "transient")
        account.dispute(reference)
        assert.deepInclude(yield* provider.refund(refund), { status: "failed", code: "charge_disputed" })
      }),
  )
})
