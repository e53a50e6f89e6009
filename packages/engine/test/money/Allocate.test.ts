import { assert, describe, it } from "vitest"
import { allocate, AllocationError } from "../../src/money/Allocate.ts"
import { fc, holds } from "../property.ts"
import { Rational } from "../Rational.ts"

const weights = fc.uniqueArray(
  fc.record({ key: fc.string({ maxLength: 3 }), weight: fc.bigInt({ min: 0n, max: 10n ** 12n }) }),
  { selector: ({ key }) => key, minLength: 1, maxLength: 12 },
)
const totals = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n })
const sum = (parts: ReadonlyArray<bigint>): bigint => parts.reduce((a, b) => a + b, 0n)

describe("allocate", () => {
  it("gives parts that sum to the total, each less than one unit from its exact share", () => {
    holds([totals, weights], (total, given) => {
      const weight = sum(given.map((one) => one.weight))
      if (weight === 0n) return
      const parts = allocate(total, given)
      assert.strictEqual(sum(parts), total)
      for (const [index, part] of parts.entries()) {
        const exact = new Rational(total * given[index]!.weight, weight)
        const off = exact.minus(new Rational(part))
        assert.isTrue(off.isLessThan(new Rational(1n)) && new Rational(-1n).isLessThan(off))
        if (given[index]!.weight === 0n) assert.strictEqual(part, 0n)
      }
    })
  })

  it("gives what is left to the largest remainders, one unit at a time", () => {
    holds([totals, weights], (total, given) => {
      const weight = sum(given.map((one) => one.weight))
      if (weight === 0n) return
      const size = total < 0n ? -total : total
      // Unit by unit, to whoever is furthest behind: the same, worked out another way.
      const parts = given.map((one) => new Rational(size * one.weight, weight).floor())
      const order = given
        .map(({ key }, index) => ({
          index,
          key,
          behind: new Rational(size * given[index]!.weight, weight).minus(new Rational(parts[index]!)),
        }))
        .sort((a, b) =>
          a.behind.isLessThan(b.behind) ? 1 : b.behind.isLessThan(a.behind) ? -1 : a.key < b.key ? -1 : 1,
        )
      for (let next = 0; sum(parts) < size; next++) parts[order[next]!.index]! += 1n
      assert.deepStrictEqual(allocate(total, given), total < 0n ? parts.map((part) => -part) : parts)
    })
  })

  it("does not depend on the order of the weights", () => {
    holds([totals, weights], (total, given) => {
      if (sum(given.map((one) => one.weight)) === 0n) return
      assert.deepStrictEqual(allocate(total, given.toReversed()), allocate(total, given).toReversed())
    })
  })

  it("decides ties by key", () => {
    const thirds = ["b", "a", "c"].map((key) => ({ key, weight: 1n }))
    assert.deepStrictEqual(allocate(100n, thirds), [33n, 34n, 33n])
    assert.deepStrictEqual(allocate(101n, thirds), [34n, 34n, 33n])
    assert.deepStrictEqual(allocate(-100n, thirds), [-33n, -34n, -33n])
  })

  it("splits nothing over nothing, and refuses what cannot be split", () => {
    assert.deepStrictEqual(allocate(0n, []), [])
    assert.deepStrictEqual(allocate(0n, [{ key: "a", weight: 0n }]), [0n])
    assert.throws(() => allocate(1n, []), AllocationError, "1 cannot be split: the weights sum to 0.")
    assert.throws(() => allocate(-1n, [{ key: "a", weight: 0n }]), AllocationError, "weights sum to 0")
    assert.throws(
      () => allocate(1n, [{ key: "a", weight: -1n }]),
      AllocationError,
      `The weight of "a" is negative: -1.`,
    )
    const twice = ["a", "a"].map((key) => ({ key, weight: 1n }))
    assert.throws(() => allocate(1n, twice), AllocationError, `The key "a" is used twice.`)
  })
})
