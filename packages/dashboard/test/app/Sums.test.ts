import { assert, describe, it } from "vitest"
import type { Invoice, Payment } from "../../app/api/Types.ts"
import * as Fraction from "../../app/money/Fraction.ts"
import { collectedOf, invoicesOf, monthly, WHICH, type Which } from "../../app/money/Sums.ts"

const DAY_MILLIS = 86_400_000
const NOW = Date.parse("2026-11-21T09:30:00.000Z")
const daysAgo = (days: number) => new Date(NOW - days * DAY_MILLIS).toISOString()

describe("what a month costs", () => {
  const month = (unit: "day" | "week" | "month" | "year", count: number, amount = 1_200n) =>
    monthly(amount, { unit, count })
  const value = ({ denominator, numerator }: Fraction.Fraction) => Number(numerator) / Number(denominator)

  it("is a part of longer intervals, and more of shorter ones", () => {
    assert.strictEqual(value(month("month", 1)), 1_200)
    assert.strictEqual(value(month("month", 3)), 400)
    assert.strictEqual(value(month("year", 1)), 100)
    assert.strictEqual(value(month("day", 1)), (1_200 * 365) / 12)
    assert.closeTo(value(month("week", 2)), (1_200 * 365) / 12 / 14, 1e-9)
  })

  it("is added exactly and rounded once", () => {
    // Three times a third of a cent is a cent, which three rounded thirds are not.
    const third = month("month", 3, 1n)
    assert.strictEqual(Fraction.round(third), 0n)
    assert.strictEqual(Fraction.round(Fraction.add(third, Fraction.add(third, third))), 1n)
    assert.strictEqual(Fraction.round({ numerator: 3n, denominator: 2n }), 2n)
    assert.strictEqual(Fraction.round({ numerator: -3n, denominator: 2n }), -2n)
    assert.strictEqual(Fraction.round({ numerator: -1n, denominator: 3n }), 0n)
  })
})

describe("the figures of invoices", () => {
  const invoice = (id: string, more: object) =>
    ({
      id,
      status: "open",
      currency: "EUR",
      issued_at: daysAgo(100),
      due_at: daysAgo(-5),
      collection: "collecting",
      ...more,
    }) as Invoice
  const invoices = [
    invoice("soon", {}),
    invoice("late", { due_at: daysAgo(30) }),
    invoice("later", { due_at: daysAgo(30.5), collection: "retrying" }),
    invoice("latest", { due_at: daysAgo(61) }),
    invoice("paid", { status: "paid", issued_at: daysAgo(1) }),
    invoice("void", { status: "void", issued_at: daysAgo(1) }),
    invoice("draft", { status: "draft", issued_at: null }),
    invoice("dollars", { currency: "USD", issued_at: daysAgo(1) }),
    invoice("lost", { status: "uncollectible", issued_at: daysAgo(29) }),
  ]
  const ids = (which: Which) => invoicesOf(which, "EUR", invoices, NOW).map(({ id }) => id)

  it("take each invoice where it belongs, in one currency", () => {
    assert.deepEqual(
      WHICH.map((which) => [which, ...ids(which)]),
      [
        ["invoiced", "paid", "lost"],
        ["outstanding", "soon", "late", "later", "latest"],
        ["not_due", "soon"],
        ["late_30", "late"],
        ["late_60", "later"],
        ["late_more", "latest"],
        ["to_retry", "later"],
      ],
    )
  })

  it("by age are together what is outstanding", () => {
    const ages = (["not_due", "late_30", "late_60", "late_more"] as const).flatMap(ids)
    assert.sameMembers(ages, [...ids("outstanding")])
  })

  it("of payments take those of the last days", () => {
    const payment = (id: string, paid_at: string | null, status = "succeeded") =>
      ({ id, paid_at, status, currency: "EUR" }) as Payment
    const payments = [payment("new", daysAgo(2)), payment("old", daysAgo(31)), payment("open", null, "open")]
    assert.deepEqual(
      collectedOf("EUR", payments, NOW).map(({ id }) => id),
      ["new"],
    )
  })
})
