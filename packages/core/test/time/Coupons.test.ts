import {
  BillingRuns,
  Coupon,
  Coupons,
  type Customer,
  InvalidInput,
  InvoiceItems,
  Invoices,
  Redemptions,
  Subscription,
  Subscriptions,
} from "@billwright/core"
import { problemsOfSums } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { acmeTest, as, at, globex, newCustomer } from "../world.ts"
import { advanceTo, allInvoices, inYears, pushPro, use } from "./billing.ts"

const START = at("2026-06-01T00:00:00.000Z").epochMilliseconds
const millis = (text: string): number => at(text).epochMilliseconds

const couponOf = (change: Partial<Coupon.CreateCoupon> = {}) =>
  Effect.flatMap(Coupons, ({ create }) =>
    create({ code: "HALF", name: "Half off", percent: "50", duration: "forever", ...change }),
  )

const subscribe = Effect.fnUntraced(function* (customer: Customer.Customer, coupon?: string) {
  const input = { customerId: customer.id, plan: "pro" }
  return yield* (yield* Subscriptions).create(coupon === undefined ? input : { ...input, coupon })
})

/** A subscription that begins with a coupon, and some months of it with 10.00 of usage each. */
const months = Effect.fnUntraced(function* (count: number, coupon: Partial<Coupon.CreateCoupon>) {
  yield* pushPro
  const { code } = yield* couponOf(coupon)
  const customer = yield* newCustomer()
  const subscription = yield* subscribe(customer, code)
  for (let month = 0; month < count; month++) {
    yield* use(customer, 1_100)
    yield* advanceTo(millis(`2026-0${7 + month}-02T00:00:00.000Z`))
  }
  const invoices = yield* allInvoices
  assert.deepStrictEqual(invoices.flatMap(problemsOfSums), [])
  return { customer, subscription, invoices }
})

const discountsOf = (
  invoices: ReadonlyArray<{ readonly discounts: ReadonlyArray<{ readonly amount: bigint }> }>,
) => invoices.map(({ discounts }) => discounts.map(({ amount }) => amount))

const problemsOf = (error: unknown): ReadonlyArray<string> => {
  assert.instanceOf(error, InvalidInput)
  return (error.problems ?? [error]).map(({ field, problem }) => `${field} ${problem}`)
}

describe("Coupons", () => {
  it.effect("names all problems of the terms, and refuses a code that another coupon has", () =>
    Effect.gen(function* () {
      const none = yield* Effect.flip(
        couponOf({ percent: null, duration: "periods", carry: true, amount: { EUR: "0" } }),
      )
      assert.deepStrictEqual(problemsOf(none), ["amount.EUR must be greater than 0", "periods is required"])
      assert.deepStrictEqual(problemsOf(yield* Effect.flip(couponOf({ code: "half" }))), [
        "code must be 3 to 40 upper-case letters, digits, hyphens and underscores",
      ])
      const { id } = yield* couponOf()
      yield* (yield* Coupons).archive(id)
      assert.deepStrictEqual(problemsOf(yield* Effect.flip(couponOf())), [
        "code is the code of another coupon, which may be archived",
      ])
    }).pipe(inYears(START)),
  )
})

describe("a coupon of a subscription", () => {
  it.effect("lowers every invoice from the first one on, and the invoice explains it", () =>
    Effect.gen(function* () {
      const { invoices } = yield* months(2, {})
      assert.deepStrictEqual(discountsOf(invoices), [[1_000n], [1_500n], [1_500n]])
      const [first] = invoices
      assert.deepStrictEqual(
        first?.discounts.map(({ base, name, percent, type }) => ({ base, name, percent, type })),
        [{ base: 2_000n, name: "Half off", percent: "50", type: "coupon" }],
      )
      assert.deepStrictEqual(
        first?.steps.map(({ amount, type }) => [type, amount]),
        [
          ["lines", 2_000n],
          ["coupon", 1_000n],
          ["tax", 1_000n],
          ["total", 1_000n],
          ["due", 1_000n],
        ],
      )
    }).pipe(inYears(START)),
  )

  it.effect("for some periods is used once in each, however often a draft is computed again", () =>
    Effect.gen(function* () {
      // Each invoice is a draft for an hour, and is computed again when the next is made, and when it is finalized.
      const { invoices } = yield* months(3, { duration: "periods", periods: 2 })
      assert.deepStrictEqual(discountsOf(invoices), [[1_000n], [1_500n], [], []])
    }).pipe(inYears(START)),
  )

  for (const carry of [false, true]) {
    it.effect(
      `of a fixed amount ${carry ? "that is carried on " : ""}takes as much off beside a credit, which waits`,
      () =>
        Effect.gen(function* () {
          yield* pushPro
          const amount = { percent: null, amount: { EUR: "25.00" }, duration: "once" } as const
          const { code } = yield* couponOf({ ...amount, carry })
          const customer = yield* newCustomer()
          const credit = { customerId: customer.id, currency: "EUR", amount: -1_500n, description: "Sorry" }
          yield* (yield* InvoiceItems).create(credit)
          yield* subscribe(customer, code)
          yield* advanceTo(millis("2026-08-02T00:00:00.000Z"))
          const invoices = yield* allInvoices
          assert.deepStrictEqual(invoices.flatMap(problemsOfSums), [])
          assert.deepStrictEqual(discountsOf(invoices), carry ? [[2_000n], [500n], []] : [[2_000n], [], []])
          assert.deepStrictEqual(
            invoices.map(({ total }) => total),
            carry ? [0n, 0n, 2_000n] : [0n, 500n, 2_000n],
          )
        }).pipe(inYears(START)),
    )
  }

  it.effect("of a fixed amount lapses in each period, or is carried on", () =>
    Effect.gen(function* () {
      const amount = { percent: null, amount: { EUR: "25.00" } }
      const { invoices } = yield* months(2, { ...amount, duration: "once" })
      assert.deepStrictEqual(discountsOf(invoices), [[2_000n], [], []])
    }).pipe(inYears(START)),
  )

  it.effect("that carries on gives later invoices what was left", () =>
    Effect.gen(function* () {
      const amount = { percent: null, amount: { EUR: "25.00" }, carry: true }
      const { invoices } = yield* months(2, { ...amount, duration: "once" })
      assert.deepStrictEqual(discountsOf(invoices), [[2_000n], [500n], []])
    }).pipe(inYears(START)),
  )

  it.effect("covers only the lines of its charges", () =>
    Effect.gen(function* () {
      const { invoices } = yield* months(1, { charges: ["calls"] })
      assert.deepStrictEqual(discountsOf(invoices), [[], [500n]])
      assert.deepStrictEqual(
        invoices[1]?.discounts[0]?.parts.map(({ lineId }) => lineId),
        ["0.0.calls"],
      )
    }).pipe(inYears(START)),
  )

  it.effect("that takes nothing off in a period does not use it up", () =>
    Effect.gen(function* () {
      const { invoices } = yield* months(2, { charges: ["calls"], duration: "once" })
      assert.deepStrictEqual(discountsOf(invoices), [[], [500n], []])
    }).pipe(inYears(START)),
  )

  it.effect("stays used when the invoice is voided", () =>
    Effect.gen(function* () {
      const { customer, invoices } = yield* months(1, { duration: "once" })
      yield* (yield* Invoices).void(invoices[0]!.id)
      yield* use(customer, 1_100)
      yield* advanceTo(millis("2026-08-02T00:00:00.000Z"))
      assert.deepStrictEqual(discountsOf(yield* allInvoices), [[1_000n], [], []])
    }).pipe(inYears(START)),
  )

  it.effect("redeemed later lowers the invoices that are made from then on, until it is ended", () =>
    Effect.gen(function* () {
      const { customer, subscription } = yield* months(1, {})
      const redemptions = yield* Redemptions
      const { data } = yield* redemptions.list({ subscriptionId: subscription.id })
      yield* redemptions.end(data[0]!.id)
      const { code } = yield* couponOf({ code: "TENTH", percent: "10" })
      yield* redemptions.create({ coupon: code, subscriptionId: subscription.id })
      yield* use(customer, 1_100)
      yield* advanceTo(millis("2026-08-02T00:00:00.000Z"))
      assert.deepStrictEqual(discountsOf(yield* allInvoices), [[1_000n], [1_500n], [300n]])
      assert.lengthOf((yield* redemptions.list({ customerId: customer.id })).data, 2)
    }).pipe(inYears(START)),
  )

  it.effect("lowers no invoice that was due before it was redeemed, however late that one is made", () =>
    Effect.gen(function* () {
      const { subscription } = yield* months(0, {})
      const redemptions = yield* Redemptions
      const [first] = (yield* redemptions.list({ subscriptionId: subscription.id })).data
      // Nobody bills what is due on July 1 before July 5.
      yield* TestClock.setTime(millis("2026-07-03T00:00:00.000Z"))
      yield* redemptions.end(first!.id)
      const { code } = yield* couponOf({ code: "TENTH", percent: "10" })
      yield* redemptions.create({ coupon: code, subscriptionId: subscription.id })
      yield* TestClock.setTime(millis("2026-07-05T00:00:00.000Z"))
      yield* (yield* BillingRuns).runDue()
      yield* advanceTo(millis("2026-08-02T00:00:00.000Z"))
      assert.deepStrictEqual(discountsOf(yield* allInvoices), [[1_000n], [1_000n], [200n]])
    }).pipe(inYears(START)),
  )

  it.effect("gives back no more than was paid when time that was paid is not served", () =>
    Effect.gen(function* () {
      const { invoices, subscription } = yield* months(0, {})
      assert.deepStrictEqual(discountsOf(invoices), [[1_000n]])
      yield* advanceTo(millis("2026-06-16T00:00:00.000Z"))
      yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
      yield* advanceTo(millis("2026-06-17T00:00:00.000Z"))
      const last = (yield* allInvoices).at(-1)
      assert.deepStrictEqual(
        last?.lines.filter(({ kind }) => kind === "credit").map(({ amount }) => amount),
        [-500n],
      )
    }).pipe(inYears(START)),
  )
})

describe("Redemptions.create", () => {
  it.effect("refuses with all reasons, and then counts nothing", () =>
    Effect.gen(function* () {
      yield* pushPro
      const coupon = yield* couponOf({
        percent: null,
        amount: { USD: "5.00" },
        maxRedemptions: 1,
        redeemBefore: at("2026-06-01T00:00:00.000Z"),
      })
      const customer = yield* newCustomer()
      const refused = yield* Effect.flip(subscribe(customer, "HALF"))
      assert.deepStrictEqual(problemsOf(refused), [
        "coupon has no amount in EUR",
        "coupon can no longer be redeemed",
      ])
      assert.deepStrictEqual((yield* (yield* Subscriptions).list()).data, [])
      assert.deepStrictEqual((yield* (yield* Redemptions).list()).data, [])
      assert.strictEqual((yield* (yield* Coupons).get(coupon.id)).timesRedeemed, 0)
      const unknown = yield* Effect.flip(subscribe(customer, "NOTHING"))
      assert.instanceOf(unknown, Coupon.CouponNotFound)
      assert.strictEqual(unknown.field, "coupon")
    }).pipe(inYears(START)),
  )

  it.effect("keeps the limits of all customers and of each, also when many redeem at once", () =>
    Effect.gen(function* () {
      yield* pushPro
      const { id } = yield* couponOf({ maxRedemptions: 3, maxRedemptionsPerCustomer: 2 })
      const [ada, ben] = [yield* newCustomer(), yield* newCustomer()]
      const tries = [ada, ada, ada, ben, ben, ben].map((customer) => Effect.exit(subscribe(customer, "HALF")))
      const exits = yield* Effect.all(tries, { concurrency: "unbounded" })
      assert.lengthOf(
        exits.filter(({ _tag }) => _tag === "Success"),
        3,
      )
      assert.strictEqual((yield* (yield* Coupons).get(id)).timesRedeemed, 3)
      const { list } = yield* Redemptions
      assert.isAtMost((yield* list({ customerId: ada.id })).data.length, 2)
      assert.isAtMost((yield* list({ customerId: ben.id })).data.length, 2)
    }).pipe(inYears(START)),
  )

  it.effect("refuses a coupon twice, one that is archived, and subscriptions that ended or are others'", () =>
    Effect.gen(function* () {
      const { subscription } = yield* months(0, {})
      const { create } = yield* Redemptions
      const subscriptionId = subscription.id
      assert.deepStrictEqual(problemsOf(yield* Effect.flip(create({ coupon: "HALF", subscriptionId }))), [
        "coupon is on the subscription already",
      ])
      const old = yield* couponOf({ code: "OLD" })
      yield* (yield* Coupons).archive(old.id)
      assert.deepStrictEqual(problemsOf(yield* Effect.flip(create({ coupon: old.id, subscriptionId }))), [
        "coupon is archived",
      ])
      for (const tenant of [acmeTest, globex]) {
        const refused = yield* Effect.flip(as(tenant)(create({ coupon: "OLD", subscriptionId })))
        assert.instanceOf(refused, Subscription.SubscriptionNotFound)
      }
      yield* (yield* Subscriptions).cancel(subscriptionId, { at: "now" })
      yield* couponOf({ code: "NEW" })
      const ended = yield* Effect.flip(create({ coupon: "NEW", subscriptionId }))
      assert.deepStrictEqual(problemsOf(ended), [
        "subscriptionId is that of a subscription that has ended: it has no more invoices",
      ])
    }).pipe(inYears(START)),
  )
})
