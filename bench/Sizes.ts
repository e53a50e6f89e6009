/**
 * The amounts of stored data, in benchmarks that measure their influence.
 */

/** A number of rows, and its name in words. */
export interface Size {
  readonly rows: number
  readonly name: string
}

const nameOf = (rows: number): string =>
  rows >= 1_000_000 ? `${rows / 1_000_000} million` : rows.toLocaleString("en-US")

/** The sizes of `--millions=1,10`, or otherwise the default sizes, in millions. */
export const sizes = (defaults: ReadonlyArray<number>): ReadonlyArray<Size> => {
  const given = process.env["BENCH_MILLIONS"]
  const millions = given === undefined ? defaults : given.split(",").map(Number)
  if (millions.length === 0 || !millions.every((size) => size >= 0.001 && size <= 1_000)) {
    throw new Error(`--millions must be numbers from 0.001 to 1000 with commas between them, not ${given}`)
  }
  return millions.map((size) => ({ rows: Math.round(size * 1_000_000), name: nameOf(size * 1_000_000) }))
}
