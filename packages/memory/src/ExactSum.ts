/**
 * A sum of quantities that is exact at any size.
 *
 * It adds to a plain number while that is exact (up to 2^53 − 1), and carries into a `bigint` beyond. Adding to a
 * `bigint` would allocate a new one for every record.
 */
export class ExactSum {
  #small = 0
  #carried = 0n
  /** How many quantities were added. */
  count = 0

  /** The exact sum. */
  get quantity(): bigint {
    return this.#carried === 0n ? BigInt(this.#small) : this.#carried + BigInt(this.#small)
  }

  /** Adds a quantity: an integer from 0 to 2^53 − 1. */
  add(quantity: number): void {
    this.#addSmall(quantity)
    this.count++
  }

  /** Subtracts a quantity that was added before. */
  subtract(quantity: number): void {
    if (quantity <= this.#small) this.#small -= quantity
    else {
      this.#carried += BigInt(this.#small) - BigInt(quantity)
      this.#small = 0
    }
    this.count--
  }

  /** Adds all quantities of another sum. */
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
