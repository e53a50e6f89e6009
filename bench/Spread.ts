/**
 * Which customers records belong to, the same in each run and for all sides.
 */

export interface Spread {
  /** The customer of each record, by its number in the batch, for each of the batches. */
  readonly batches: ReadonlyArray<ReadonlyArray<number>>
}

const batchesOf = (
  count: number,
  size: number,
  customerOf: (batch: number, index: number) => number,
): Spread => ({
  batches: Array.from({ length: count }, (_, batch) =>
    Array.from({ length: size }, (_record, index) => customerOf(batch, index)),
  ),
})

/** Every batch has as many records of each customer, in no order. */
export const uniform = (batches: number, size: number, customers: number): Spread =>
  batchesOf(batches, size, (batch, index) => (index * 7919 + batch * 104_729) % customers)

/** Numbers from 0 to before 1, the same in each run, from a 32-bit xorshift. */
const random = () => {
  let state = 20_261_127
  return (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/**
 * By Zipf's law with exponent 1: the second customer has half as many records as the first, the third a third. Of 1,000 customers
 * the first has 13 % of all records.
 */
export const zipf = (batches: number, size: number, customers: number): Spread => {
  const ends: Array<number> = []
  let sum = 0
  for (let rank = 1; rank <= customers; rank++) ends.push((sum += 1 / rank))
  const next = random()
  return batchesOf(batches, size, () => {
    const at = next() * sum
    return ends.findIndex((end) => at < end)
  })
}
