import type { PaymentProvider } from "@billwright/core"
import { StripeProvider } from "@billwright/stripe"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { fake, open } from "./AtFake.ts"

afterAll(() => fake.close())

const { account, provider } = open()

const opens = (amount: bigint, currency: string) =>
  provider.openPayment({
    paymentId: `pay_${currency}_${amount}` as never,
    mode: "test",
    invoiceId: "inv_1" as never,
    customerId: "cus_1" as never,
    customer: null,
    amount,
    currency,
  })

describe("amounts at Stripe", () => {
  const cases: ReadonlyArray<readonly [string, bigint, number]> = [
    ["EUR", 1_999n, 1_999],
    ["JPY", 500n, 500],
    ["ISK", 500n, 50_000],
    ["UGX", 500n, 50_000],
    ["MGA", 500n, 5],
    ["KWD", 5_120n, 5_120],
    ["IDR", 999_999_999_999n, 999_999_999_999],
  ]
  for (const [currency, amount, atStripe] of cases) {
    it.effect(`${amount} ${currency} is ${atStripe}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(provider.chargeable({ amount, currency }), { status: "ok" })
        const { reference } = yield* opens(amount, currency)
        const intent = account.all("payment_intent").find(({ id }) => id === reference)
        assert.deepStrictEqual([intent?.amount, intent?.currency], [atStripe, currency.toLowerCase()])
      }),
    )
  }

  it("what Stripe does not take is said before anything is sent, with what it takes", () => {
    const answers: ReadonlyArray<readonly [bigint, string, ReturnType<PaymentProvider["chargeable"]>]> = [
      [5_124n, "KWD", { status: "not_representable", multipleOf: 10n }],
      [550n, "MGA", { status: "not_representable", multipleOf: 100n }],
      [49n, "EUR", { status: "below_minimum", minimum: 50n }],
      [50n, "EUR", { status: "ok" }],
      [99_999_999n, "EUR", { status: "ok" }],
      [100_000_000n, "EUR", { status: "above_maximum", maximum: 99_999_999n }],
      [1_000_000_000_000n, "IDR", { status: "above_maximum", maximum: 999_999_999_999n }],
      [1_000_000n, "ISK", { status: "above_maximum", maximum: 999_999n }],
      [100_000_000n, "KWD", { status: "above_maximum", maximum: 99_999_990n }],
      [9_999_999_900n, "MGA", { status: "ok" }],
      [500n, "IQD", { status: "unsupported_currency" }],
      [500n, "XXX", { status: "unsupported_currency" }],
    ]
    for (const [amount, currency, answer] of answers) {
      assert.deepStrictEqual(provider.chargeable({ amount, currency }), answer, `${amount} ${currency}`)
    }
  })
})

describe("options", () => {
  it("names the one that is wrong", () => {
    const { client } = open()
    const wrong: ReadonlyArray<readonly [object, RegExp]> = [
      [{ client: {} }, /^client/],
      [{ client, requestsPerSecond: 0 }, /^requestsPerSecond/],
      [{ client, requestsPerSecond: Number.NaN }, /^requestsPerSecond/],
      [{ client, name: "manual" }, /^name/],
    ]
    for (const [options, message] of wrong) {
      assert.throws(() => StripeProvider.make(options as never), TypeError, message)
    }
  })
})
