/**
 * The instant from which on a worker looks for due deliveries.
 *
 * Mostly there is none, and a claim looks at the whole queue. While a transaction of anybody stays open for long, such as that of
 * a backup, Postgres can't forget the index entries of deliveries that ended since. A look at the whole queue then walks through
 * all of them. So when such a look is slow, those that follow begin where the first pending delivery was, and the whole queue is
 * looked at from time to time only.
 *
 * Deliveries that come to be due before the mark wait for the next look at the whole queue: those of a transaction that was
 * open for more than `MARGIN_MILLIS`, or of a process whose clock is that much behind.
 */

/** From how much longer than the quickest a look is slow, in milliseconds. */
const SLOW_MILLIS = 5
/** From how many dead rows on a slow look is taken for one that walked through them. */
const MIN_DEAD_ROWS = 50_000
/** The pause between two slow looks, compared with how long such a look takes: they take a twentieth of the time. */
const PAUSE_AFTER_SLOW = 20
/** The shortest pause, in milliseconds. The storage is asked for the mark after as long a pause. */
export const MIN_PAUSE_MILLIS = 1_000
/** The longest pause, in milliseconds. */
const MAX_PAUSE_MILLIS = 5_000
/** How long before the first pending delivery a look begins, in milliseconds. */
const MARGIN_MILLIS = 1_000

/** What the storage knows of the queue after a slow look. */
export interface Queue {
  /** When the first pending delivery is or was due, with a lease or without, in epoch milliseconds. At the latest now. */
  readonly firstDueAt: number
  /** About how many rows are dead. */
  readonly deadRows: number
}

/** Times are of a monotonic clock, in milliseconds, unless they say otherwise. */
export class LowWaterMark {
  #quickest = Infinity
  #since: number | null = null
  #wholeAt = -Infinity

  /** From where on to look now, in epoch milliseconds. `null`: at the whole queue. */
  since(now: number): number | null {
    return now < this.#wholeAt ? this.#since : null
  }

  /** Notes how long a look at the whole queue took. Gives whether it was slow. */
  isSlow(took: number): boolean {
    this.#quickest = Math.min(this.#quickest, took)
    return took - this.#quickest > SLOW_MILLIS
  }

  /** Sets the mark after a slow look, if the queue has many dead rows. */
  set({ deadRows, firstDueAt }: Queue, took: number, now: number): void {
    if (deadRows < MIN_DEAD_ROWS) return
    this.#since = firstDueAt - MARGIN_MILLIS
    this.#wholeAt = now + Math.min(Math.max(took * PAUSE_AFTER_SLOW, MIN_PAUSE_MILLIS), MAX_PAUSE_MILLIS)
  }
}
