/**
 * Limits how often commits make a stream read its tail.
 *
 * Every commit of any tenant wakes every stream, because the signal carries no details. When commits are rare, a
 * stream reads at once. When they are frequent, streams wait, so that all streams together stay below a fixed rate
 * of reads.
 */

/** The number of reads that a stream may make at once before it has to wait. */
const BURST = 10
/** The shortest average time between two reads, in milliseconds. */
const MIN_INTERVAL_MILLIS = 50
/** The longest average time. A stream reads this often even without a signal. */
const MAX_INTERVAL_MILLIS = 1_000
/** The most reads per second that commits may cause, as an average over all streams of this process. */
const MAX_READS_PER_SECOND = 500

/** The limit of one stream. It is mutable. Instants are epoch milliseconds. */
export class StreamPace {
  /** When the full burst is available again. */
  #rested = 0

  /** Counts a read, and returns how long it has to wait, in milliseconds. `streams` is the number of open streams. */
  delay(now: number, streams: number): number {
    const affordable = (streams * 1_000) / MAX_READS_PER_SECOND
    const interval = Math.min(MAX_INTERVAL_MILLIS, Math.max(MIN_INTERVAL_MILLIS, affordable))
    const wait = Math.max(0, this.#rested - now - (BURST - 1) * interval)
    this.#rested = Math.max(this.#rested, now) + interval
    return wait
  }
}
