/**
 * What the figures of several rounds say: their median, and how well it is known.
 */

/** The median of the values. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The value that a share of the values does not exceed. `share` is between 0 and 1. */
export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

/** A median with its 95 % interval. */
export interface Interval {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** How many of the lowest and of the highest values are outside of the interval of the median: it then covers at least 95 %. */
const outside = (values: number): number => {
  let [covered, ways, count] = [1, 1, 0]
  for (;;) {
    covered -= (2 * ways) / 2 ** values
    if (covered < 0.95) return Math.max(0, count - 1)
    ways = (ways * (values - count)) / (count + 1)
    count++
  }
}

/**
 * The median of the values, and its 95 % interval. The interval lies between two of the sorted values, which assumes nothing
 * about how they are spread. Of fewer than 6 values it is their whole range, which covers less. Takes up to 1,000 values.
 */
export const intervalOf = (values: ReadonlyArray<number>): Interval => {
  const sorted = values.toSorted((a, b) => a - b)
  const left = outside(sorted.length)
  return { median: median(sorted), low: sorted[left]!, high: sorted.at(-1 - left)! }
}

/** The ratio of two figures in the same round. Both were measured on the same machine at nearly the same time. */
export const ratioOf = (ours: ReadonlyArray<number>, theirs: ReadonlyArray<number>): Interval =>
  intervalOf(ours.map((figure, round) => figure / theirs[round]!))
