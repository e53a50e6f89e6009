type Values = ReadonlyArray<number>

/** The values of each series on top of those before it. */
export const stack = (series: ReadonlyArray<Values>): ReadonlyArray<Values> => {
  const sums: Array<Values> = []
  for (const values of series) {
    const below = sums.at(-1)
    sums.push(below === undefined ? values : values.map((value, index) => value + (below[index] ?? 0)))
  }
  return sums
}
