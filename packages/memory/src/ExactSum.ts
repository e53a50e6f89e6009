/**
 * A sum of quantities that is exact at any size.
 *
 * It counts in a plain number while that is exact (up to 2^53 − 1) and carries into a `bigint` beyond: adding
 * to a `bigint` for every record would allocate one each time.
 */
export class ExactSum {
  #small = 0
  #carried = 0n
  /** How many quantities the sum is made of. */
  count = 0

  /** The exact sum. */
  get quantity(): bigint {
    return this.#carried === 0n ? BigInt(this.#small) : this.#carried + BigInt(this.#small)
  }

  /** Counts a quantity: an integer from 0 to 2^53 − 1. */
  add(quantity: number): void {
    this.#addSmall(quantity)
    this.count++
  }

  /** Takes back a quantity that was added. */
  subtract(quantity: number): void {
    if (quantity <= this.#small) this.#small -= quantity
    else {
      this.#carried += BigInt(this.#small) - BigInt(quantity)
      this.#small = 0
    }
    this.count--
  }

  /** Counts all that another sum counts. */
  addAll(other: ExactSum): void {
    this.#addSmall(other.#small)
    if (other.#carried !== 0n) this.#carried += other.#carried
    this.count += other.count
  }

  #addSmall(quantity: number): void {
    if (quantity <= Number.MAX_SAFE_INTEGER - this.#small) this.#small += quantity
    else {
      this.#carried += BigInt(this.#small)
      this.#small = quantity
    }
  }
}
