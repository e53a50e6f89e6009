/**
 * Splits an amount into parts that sum to it.
 */

/** The weight of one part. `weight` ≥ 0 is its share. `key` identifies it and decides ties. Keys are distinct. */
export interface Weight {
  readonly key: string
  readonly weight: bigint
}

/** `total` can't be split by these weights. */
export class AllocationError extends Error {
  override readonly name = "AllocationError"
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Splits `total`, an integer of the minor unit, by weight. The parts are in the order of `weights`, and they sum to
 * `total`.
 *
 * Each part is rounded down. The units left over go to the parts with the largest remainders, one unit each; ties are
 * decided by key. A weight of 0 gets 0. A negative total gives the negative parts of the positive total. Throws an
 * {@link AllocationError} when a weight is negative, when a key is used twice, or when `total` is not 0 and the weights
 * sum to 0.
 */
export const allocate = (total: bigint, weights: ReadonlyArray<Weight>): ReadonlyArray<bigint> => {
  const keys = new Set<string>()
  let sum = 0n
  for (const { key, weight } of weights) {
    if (weight < 0n) throw new AllocationError(`The weight of ${JSON.stringify(key)} is negative: ${weight}.`)
    if (keys.has(key)) throw new AllocationError(`The key ${JSON.stringify(key)} is used twice.`)
    keys.add(key)
    sum += weight
  }
  if (sum === 0n) {
    if (total === 0n) return weights.map(() => 0n)
    throw new AllocationError(`${total} cannot be split: the weights sum to 0.`)
  }
  if (total < 0n) return allocate(-total, weights).map((part) => -part)
  const parts = weights.map(({ weight }) => (total * weight) / sum)
  let left = parts.reduce((rest, part) => rest - part, total)
  const remainders = weights
    .map(({ key, weight }, index) => ({ index, key, remainder: (total * weight) % sum }))
    .sort((a, b) =>
      a.remainder === b.remainder ? compareText(a.key, b.key) : a.remainder > b.remainder ? -1 : 1,
    )
  for (const { index, remainder } of remainders) {
    if (left === 0n || remainder === 0n) break
    parts[index]! += 1n
    left--
  }
  return parts
}
