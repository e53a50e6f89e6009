/**
 * The method of the benchmarks: rounds, ratios and intervals.
 */
import { assert, describe, it } from "@effect/vitest"
import { ratiosOf } from "../bench/Comparison.ts"
import { rotate } from "../bench/Rounds.ts"
import { uniform, zipf } from "../bench/Spread.ts"
import { intervalOf, ratioOf } from "../bench/Statistics.ts"

/** How many of `n` fair coins show heads in all outcomes, counted one by one as Pascal's triangle does. */
const waysOf = (n: number): ReadonlyArray<bigint> => {
  let row: ReadonlyArray<bigint> = [1n]
  for (let coin = 0; coin < n; coin++)
    row = [...row, 0n].map((ways, heads) => ways + (heads === 0 ? 0n : row[heads - 1]!))
  return row
}

/** The chance that the median lies from the value of a rank to that of the same rank from the end, in exact ten thousandths. */
const coverage = (n: number, rank: number): number => {
  const ways = waysOf(n)
  const inside = ways.slice(rank, n - rank + 1).reduce((sum, each) => sum + each, 0n)
  return Number((inside * 10_000n) / 2n ** BigInt(n)) / 10_000
}

const ranks = (n: number): ReadonlyArray<number> => Array.from({ length: n }, (_, index) => index + 1)

describe("the interval of a median", () => {
  it("is the narrowest between two ranks that covers at least 95 %", () => {
    for (let n = 6; n <= 100; n++) {
      const { high, low, median } = intervalOf(ranks(n).toReversed())
      assert.strictEqual(median, (n + 1) / 2)
      assert.strictEqual(high, n + 1 - low)
      assert.isAtLeast(coverage(n, low), 0.95, `${n} values`)
      assert.isBelow(coverage(n, low + 1), 0.95, `${n} values`)
    }
  })

  it("has the ranks that tables of it have", () => {
    for (const [n, rank] of [
      [6, 1],
      [9, 2],
      [12, 3],
      [15, 4],
      [20, 6],
      [25, 8],
      [50, 18],
      [100, 40],
    ] as const)
      assert.strictEqual(intervalOf(ranks(n)).low, rank, `${n} values`)
  })

  it("is the whole range of fewer than 6 values", () => {
    assert.deepStrictEqual(intervalOf([3, 1, 2]), { median: 2, low: 1, high: 3 })
    assert.deepStrictEqual(intervalOf([7]), { median: 7, low: 7, high: 7 })
  })
})

describe("a ratio", () => {
  const ours = [10, 20, 30]
  const theirs = [5, 40, 10]

  it("is that of each round, and not that of the medians", () => {
    assert.deepStrictEqual(ratioOf(ours, theirs), { median: 2, low: 0.5, high: 3 })
  })

  it("says how many times better a side is, by rate or by time, and leaves out sides that did not take part", () => {
    const sides = [
      { name: "ours", rounds: ours },
      { name: "theirs", rounds: theirs },
    ]
    const ratio = { of: "ours", to: "theirs" }
    assert.deepStrictEqual(ratiosOf(sides, true), [{ ...ratio, ratio: 2, low: 0.5, high: 3 }])
    assert.deepStrictEqual(ratiosOf(sides, false), [{ ...ratio, ratio: 0.5, low: 1 / 3, high: 2 }])
    const pairs = [
      ["theirs", "ours"],
      ["theirs", "nobody"],
    ] as const
    assert.deepStrictEqual(ratiosOf(sides, true, pairs), [
      { of: "theirs", to: "ours", ratio: 0.5, low: 1 / 3, high: 2 },
    ])
  })
})

describe("rounds", () => {
  it("have all sides, each round begins with another one, and the first one warms up", async () => {
    const turns: Array<string> = []
    await rotate(["a", "b", "c"], 4, async (side, round) => {
      turns.push(`${round}${side}`)
    })
    assert.strictEqual(turns.join(" "), "-1a -1b -1c 0b 0c 0a 1c 1a 1b 2a 2b 2c 3b 3c 3a")
  })
})

describe("a spread of customers", () => {
  const count = (batches: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> => {
    const counts = Array.from({ length: 1_000 }, () => 0)
    for (const customer of batches.flat()) counts[customer]!++
    return counts
  }

  it("has as many records of each in every batch when it is uniform", () => {
    for (const batch of uniform(3, 1_000, 1_000).batches)
      assert.isTrue(count([batch]).every((records) => records === 1))
  })

  it("has by Zipf's law n times as many records of the first as of the n-th, the same in each run", () => {
    const { batches } = zipf(60, 1_000, 1_000)
    const counts = count(batches)
    const harmonic = Array.from({ length: 1_000 }, (_, index) => 1 / (index + 1)).reduce((a, b) => a + b)
    for (const rank of [1, 2, 3, 5, 10])
      assert.closeTo(counts[rank - 1]! / 60_000, 1 / rank / harmonic, 0.1 / rank / harmonic, `rank ${rank}`)
    assert.deepStrictEqual(zipf(60, 1_000, 1_000).batches, batches)
  })
})
