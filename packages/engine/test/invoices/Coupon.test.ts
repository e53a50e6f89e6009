import { assert, describe, it } from "vitest"
import {
  afterUse,
  allowanceOf,
  type Coupon,
  InvoiceError,
  isUsedUp,
  problemsOfCoupon,
  problemsOfRedemption,
  redeem,
  type Redemption,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"

const launch: Coupon = {
  key: "launch",
  name: "Launch",
  code: "LAUNCH-2026",
  amount: { EUR: "50.00", JPY: "8000" },
  duration: "periods",
  periods: 3,
  scope: { plans: ["pro"], charges: ["base", "calls"] },
  carry: true,
  maxRedemptions: 100,
  maxRedemptionsPerCustomer: 1,
  redeemFrom: 1_000,
  redeemBefore: 2_000,
}

const texts = (coupon: unknown) => problemsOfCoupon(coupon).map(({ path, problem }) => `${path} ${problem}`)

describe("problemsOfCoupon", () => {
  it("finds nothing wrong with a coupon that has one of everything", () => {
    assert.deepStrictEqual(texts(launch), [])
    assert.deepStrictEqual(texts({ key: "a", name: "A", percent: "12.5", duration: "forever" }), [])
  })

  const KEY = "must be a lower-case letter, then at most 63 lower-case letters, digits and underscores"
  it.each([
    [{ key: "Launch" }, `key ${KEY}`],
    [{ name: "" }, "name must be a text of 1 to 200 characters"],
    [{ code: "ab" }, "code must be 3 to 40 upper-case letters, digits, hyphens and underscores"],
    [{ amount: undefined }, "percent is required (or amount): a coupon has one of them"],
    [{ amount: {} }, `amount must give an amount for at least one currency, such as {"EUR": "5.00"}`],
    [{ amount: { EUR: "0" } }, "amount.EUR must be greater than 0"],
    [{ amount: { EUR: "1.001" } }, "amount.EUR must have at most 2 digits after the point"],
    [{ amount: { JPY: "1.5" } }, "amount.JPY must have at most 0 digits after the point"],
    [{ amount: { eur: "1" } }, `amount.eur must be for a code of ISO 4217, such as "EUR"`],
    [{ amount: { EUR: 1 } }, `amount.EUR must be a string, such as "1"`],
    [{ carry: 1 }, "carry must be true or false"],
    [{ duration: "months", periods: undefined }, "duration must be one of once, periods, forever"],
    [{ periods: undefined }, "periods is required"],
    [{ periods: 0 }, "periods must be an integer from 1 to 1200"],
    [{ duration: "once" }, "periods needs the duration periods"],
    [{ scope: [] }, `scope must be an object, such as {"plans": ["pro"]}`],
    [{ scope: {} }, "scope must name plans or charges: leave it out for the whole invoice"],
    [{ scope: { plans: [] } }, "scope.plans must be a list of 1 to 100 keys"],
    [{ scope: { charges: ["a", "a"] } }, `scope.charges[1] is listed twice: "a"`],
    [{ scope: { charges: ["A"] } }, `scope.charges[0] ${KEY}`],
    [{ maxRedemptions: 0 }, "maxRedemptions must be an integer from 1 to 1000000000"],
    [{ redeemFrom: -1 }, "redeemFrom must be an integer from 0 to 253402300799999"],
    [{ redeemBefore: 1_000 }, "redeemBefore must be after redeemFrom"],
    [
      { expires: 1 },
      "expires is not a known field here (known: key, name, code, percent, amount, duration, periods, scope, carry, maxRedemptions, maxRedemptionsPerCustomer, redeemFrom, redeemBefore)",
    ],
  ])("names what is wrong with %j", (change, problem) => {
    assert.deepStrictEqual(texts({ ...launch, ...change }), [problem])
  })

  it("wants either a percentage or an amount, and all that is wrong at once", () => {
    assert.deepStrictEqual(texts({ ...launch, percent: "101" }), [
      "amount must be left out: a coupon has either a percentage or an amount",
      "percent must be at most 100",
      "carry needs an amount: a percentage leaves nothing over",
    ])
    assert.deepStrictEqual(texts(null), ["coupon must be an object"])
    assert.deepStrictEqual(texts({}), [
      `key ${KEY}`,
      "name is required",
      "percent is required (or amount): a coupon has one of them",
      "duration must be one of once, periods, forever",
    ])
  })
})

const context = { at: 1_500, currency: "EUR", redemptions: 0, redemptionsOfCustomer: 0 }

describe("redeem", () => {
  it.each([
    [{}, []],
    [{ at: 999 }, ["coupon cannot be redeemed yet"]],
    [{ at: 1_000 }, []],
    [{ at: 2_000 }, ["coupon can no longer be redeemed"]],
    [{ currency: "USD" }, ["coupon has no amount in USD"]],
    [{ redemptions: 99 }, []],
    [
      { redemptions: 100, redemptionsOfCustomer: 1 },
      [
        "coupon was redeemed 100 times, which is its limit",
        "coupon was redeemed 1 times by this customer, which is its limit",
      ],
    ],
  ])("says why not: %j", (change, expected) => {
    const problems = problemsOfRedemption(launch, { ...context, ...change })
    assert.deepStrictEqual(
      problems.map(({ path, problem }) => `${path} ${problem}`),
      expected,
    )
    if (expected.length > 0) {
      assert.throws(() => redeem("red_1", launch, { ...context, ...change }), InvoiceError, expected[0])
    }
  })
})

/** What the coupon allows in each period, when that much is taken. */
const run = (coupon: Coupon, ...takes: ReadonlyArray<readonly [period: string, taken: bigint]>) => {
  let redemption: Redemption = redeem("red_1", coupon, context)
  const allowed: Array<bigint | string | null> = []
  for (const [period, taken] of takes) {
    const allowance = allowanceOf(redemption, period)
    allowed.push(
      allowance === undefined ? null : allowance.type === "fixed" ? allowance.amount : allowance.percent,
    )
    redemption = afterUse(redemption, period, taken)
  }
  return { allowed, redemption }
}

const fixed = (duration: Coupon["duration"], more: Partial<Coupon> = {}): Coupon => ({
  key: "fixed",
  name: "Fixed",
  amount: { EUR: "50.00" },
  duration,
  ...more,
})

describe("allowanceOf", () => {
  it("lets the rest of a fixed amount lapse", () => {
    const { allowed, redemption } = run(fixed("once"), ["1", 3_000n], ["2", 0n])
    assert.deepStrictEqual(allowed, [5_000n, null])
    assert.isTrue(isUsedUp(redemption))
  })

  it("gives the rest to another invoice of the same period", () => {
    assert.deepStrictEqual(run(fixed("once"), ["1", 3_000n], ["1", 2_000n], ["1", 0n]).allowed, [
      5_000n,
      2_000n,
      null,
    ])
  })

  it("carries the rest over until it is used up", () => {
    const { allowed, redemption } = run(
      fixed("periods", { periods: 2, carry: true }),
      ["1", 3_000n],
      ["2", 1_000n],
      ["3", 5_000n],
      ["4", 1_000n],
    )
    assert.deepStrictEqual(allowed, [5_000n, 7_000n, 6_000n, 1_000n])
    assert.isTrue(isUsedUp(redemption))
  })

  it("counts a period only when it took something off", () => {
    assert.deepStrictEqual(run(fixed("once"), ["1", 0n], ["2", 0n], ["3", 1n], ["4", 0n]).allowed, [
      5_000n,
      5_000n,
      5_000n,
      null,
    ])
  })

  it("gives a percentage to each invoice of its periods", () => {
    const third: Coupon = { key: "p", name: "P", percent: "33", duration: "periods", periods: 2 }
    assert.deepStrictEqual(run(third, ["1", 5n], ["1", 9n], ["2", 1n], ["2", 1n], ["3", 0n]).allowed, [
      "33",
      "33",
      "33",
      "33",
      null,
    ])
    const forever = run({ key: "p", name: "P", percent: "5", duration: "forever" }, ["1", 1n], ["2", 1n])
    assert.deepStrictEqual(forever.allowed, ["5", "5"])
    assert.isFalse(isUsedUp(forever.redemption))
  })

  it("refuses to take more than it allows", () => {
    const redemption = redeem("red_1", fixed("once"), context)
    assert.throws(() => afterUse(redemption, "1", 5_001n), "taken must be from 0 to 5000")
    assert.throws(() => afterUse(redemption, "1", -1n), "taken must be from 0 to 5000")
  })

  it("never gives more than its periods, and with carry all of it", () => {
    const takes = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.bigInt({ min: 0n, max: 9_000n })), {
      maxLength: 30,
    })
    holds([takes, fc.integer({ min: 1, max: 5 }), fc.boolean()], (list, periods, carry) => {
      const coupon = fixed("periods", { periods, carry })
      let redemption = redeem("red_1", coupon, context)
      let sum = 0n
      let period = 0
      for (const [step, wanted] of list) {
        period += step
        const allowance = allowanceOf(redemption, String(period))
        const most = allowance?.type === "fixed" ? allowance.amount : 0n
        const taken = wanted < most ? wanted : most
        redemption = afterUse(redemption, String(period), taken)
        sum += taken
      }
      assert.isTrue(sum <= 5_000n * BigInt(periods))
      // What was neither taken nor is left has lapsed: nothing has with carry.
      if (carry && redemption.periods >= periods) {
        assert.strictEqual(sum + redemption.left, 5_000n * BigInt(periods))
      }
    })
  })
})
