import { assert, describe, it } from "vitest"
import * as Exact from "../../src/money/Exact.ts"
import { fc, holds } from "../property.ts"
import { Rational } from "../Rational.ts"

/** Any exact number, as ours and as the independent fraction. */
const numbers = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.integer({ min: 0, max: 14 }),
    fc.oneof(fc.constant(1n), fc.bigInt({ min: 1n, max: 10n ** 9n })),
  )
  .map(([numerator, scale, denominator]) => ({
    ours: { numerator, scale, denominator },
    theirs: new Rational(numerator, denominator * 10n ** BigInt(scale)),
  }))

const rational = ({ denominator, numerator, scale }: Exact.Exact): Rational =>
  new Rational(numerator, denominator * 10n ** BigInt(scale))

const assertEqual = (actual: Exact.Exact, expected: Rational): void =>
  assert.isTrue(rational(actual).equals(expected), `${Exact.text(actual)}, not ${expected.n}/${expected.d}`)

describe("Exact", () => {
  it("adds, subtracts, multiplies and compares as fractions do", () => {
    holds([numbers, numbers], (a, b) => {
      assertEqual(Exact.add(a.ours, b.ours), a.theirs.plus(b.theirs))
      assertEqual(Exact.subtract(a.ours, b.ours), a.theirs.minus(b.theirs))
      assertEqual(Exact.multiply(a.ours, b.ours), a.theirs.times(b.theirs))
      const order = Exact.compare(a.ours, b.ours)
      assert.strictEqual(order < 0, a.theirs.isLessThan(b.theirs))
      assert.strictEqual(order === 0, a.theirs.equals(b.theirs))
      assertEqual(Exact.minimum(a.ours, b.ours), a.theirs.min(b.theirs))
      assertEqual(Exact.maximum(a.ours, b.ours), a.theirs.max(b.theirs))
    })
  })

  it("divides exactly, by numbers of any scale", () => {
    const positive = numbers.filter(({ ours }) => ours.numerator > 0n)
    holds([numbers, positive], (a, b) => assertEqual(Exact.quotient(a.ours, b.ours), a.theirs.over(b.theirs)))
  })

  it("rounds to the nearest unit, halves away from zero", () => {
    holds([numbers, fc.integer({ min: 0, max: 4 })], ({ ours, theirs }, digits) => {
      const units = theirs.times(new Rational(10n ** BigInt(digits)))
      assert.strictEqual(Exact.roundTo(ours, digits), units.nearest())
    })
    for (const [text, units] of [
      ["0.005", 1n],
      ["-0.005", -1n],
      ["0.004999999999", 0n],
      ["1.015", 102n],
      ["-1.025", -103n],
      ["2.675", 268n],
      ["12", 1200n],
    ] as const) {
      assert.strictEqual(Exact.roundTo(Exact.ofDecimal(text), 2), units, text)
    }
  })

  it("multiplies and divides before it rounds, once", () => {
    const integers = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n })
    const divisors = fc.bigInt({ min: 1n, max: 10n ** 18n })
    holds([numbers, integers, divisors], ({ ours, theirs }, numerator, denominator) => {
      const expected = theirs.times(new Rational(numerator, denominator)).times(new Rational(100n))
      assert.strictEqual(Exact.mulDivRound(ours, numerator, denominator, 2), expected.nearest())
    })
  })

  it("rounds down and up to integers", () => {
    holds([numbers], ({ ours, theirs }) => {
      assert.strictEqual(Exact.floor(ours), theirs.floor())
      assert.strictEqual(Exact.ceiling(ours), theirs.ceiling())
    })
  })

  it("is written as text and read back as the same number", () => {
    holds([numbers], ({ ours, theirs }) => {
      assertEqual(Exact.ofText(Exact.text(ours)), theirs)
    })
  })

  it("writes decimals without zeros at the end, and fractions in lowest terms where digits have no end", () => {
    const texts = [
      [Exact.ofDecimal("12.500"), "12.5"],
      [Exact.ofDecimal("-0.0100"), "-0.01"],
      [Exact.ofDecimal("3.000"), "3"],
      [Exact.ofDecimal("0.00"), "0"],
      [Exact.ofFraction(1n, 8n), "0.125"],
      [Exact.ofFraction(3n, 40n), "0.075"],
      [Exact.ofFraction(20n, 6n), "10/3"],
      [Exact.ofFraction(-20n, 6n), "-10/3"],
    ] as const
    for (const [value, text] of texts) assert.strictEqual(Exact.text(value), text)
  })

  it("shows 15 digits of a fraction that has no end, and marks it", () => {
    assert.strictEqual(Exact.shown(Exact.ofFraction(2n, 3n)), "0.666666666666666…")
    assert.strictEqual(Exact.shown(Exact.ofFraction(-100n, 3n)), "-33.333333333333333…")
    assert.strictEqual(Exact.shown(Exact.ofFraction(1n, 8n)), "0.125")
  })

  it("knows decimals of plans from other texts", () => {
    const good = ["0", "0.000015", "-1.5", "999999999999999999.999999999999"]
    const bad = [
      "",
      ".5",
      "1.",
      "1e10000000",
      "+1",
      "1,5",
      " 1",
      "1\n",
      "0x1",
      "１",
      "1000000000000000000",
      "0.0000000000001",
    ]
    for (const text of good) assert.isTrue(Exact.DECIMAL_PATTERN.test(text), text)
    for (const text of bad) assert.isFalse(Exact.DECIMAL_PATTERN.test(text), text)
  })
})
