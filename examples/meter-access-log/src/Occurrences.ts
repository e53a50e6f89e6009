/**
 * Numbers identical lines: the first, the second …
 */

/** How many different lines are remembered. */
export const MAX_REMEMBERED = 100_000

export interface Occurrence {
  /** The number of the line. 1 for the first. */
  readonly number: number
  /**
   * Whether the line came so late that an identical line may have been forgotten. It is older than a line that was
   * followed by more than `MAX_REMEMBERED` different lines.
   */
  readonly isLate: boolean
}

/**
 * Counts identical lines, with limited memory. Identical lines have the same second, so only the latest lines of a log
 * need to be remembered. A server logs a request when it ends, so some lines come a little late.
 */
export class Occurrences {
  // In the order in which they were last seen.
  readonly #seen = new Map<string, { number: number; readonly time: number }>()
  readonly #capacity: number
  #forgottenUntil = Number.NEGATIVE_INFINITY

  constructor(capacity = MAX_REMEMBERED) {
    this.#capacity = capacity
  }

  /** Counts a line by its digest and its time. */
  next(digest: string, time: number): Occurrence {
    const seen = this.#seen.get(digest)
    if (seen !== undefined) {
      seen.number += 1
      this.#seen.delete(digest)
      this.#seen.set(digest, seen)
      return { number: seen.number, isLate: false }
    }
    this.#seen.set(digest, { number: 1, time })
    const isLate = time <= this.#forgottenUntil
    for (const [oldest, { time }] of this.#seen) {
      if (this.#seen.size <= this.#capacity) break
      this.#seen.delete(oldest)
      this.#forgottenUntil = Math.max(this.#forgottenUntil, time)
    }
    return { number: 1, isLate }
  }
}
