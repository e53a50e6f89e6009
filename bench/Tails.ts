/**
 * The slowest hundredth of a side's requests, round by round.
 */
import { printRatios, ratiosOf } from "./Comparison.ts"
import { intervalOf } from "./Statistics.ts"

/** A side with the 99th percentile of each round, in milliseconds. */
interface Tail {
  readonly name: string
  readonly p99: ReadonlyArray<number>
}

/** The 99th percentiles of sides, and how many times better those of the first one are. */
export const p99Of = (sides: ReadonlyArray<Tail>) => {
  const p99 = sides
    .filter((side) => side.p99.length > 0)
    .map(({ name, p99: rounds }) => ({ name, ...intervalOf(rounds), rounds }))
  for (const { median, name } of p99) console.log(`${name}: p99 ${median.toFixed(1)} ms`)
  const p99Ratios = ratiosOf(p99, false)
  printRatios(p99Ratios, "p99: ")
  return { p99, p99Ratios }
}
