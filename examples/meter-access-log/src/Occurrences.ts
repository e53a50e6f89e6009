/**
 * Which of several identical lines a line is: the first, the second …
 */

/** How many different lines are remembered. */
export const MAX_REMEMBERED = 100_000

export interface Occurrence {
  /** 1 for the first. */
  readonly number: number
  /**
   * Whether the line came so late that an identical one may have been forgotten meanwhile: it is older than a
   * line that more than `MAX_REMEMBERED` different ones came after.
   */
  readonly isLate: boolean
}

/**
 * Counts identical lines, in bounded memory. Identical lines are of the same second, so that only the latest
 * lines of a log need to be remembered; a server logs a request when it ends, so that some come a bit late.
 */
export class Occurrences {
  // In the order of the latest sight.
  readonly #seen = new Map<string, { number: number; readonly time: number }>()
  readonly #capacity: number
  #forgottenUntil = Number.NEGATIVE_INFINITY

  constructor(capacity = MAX_REMEMBERED) {
    this.#capacity = capacity
  }

  /** Counts a line, by its digest and the time it bears. */
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
