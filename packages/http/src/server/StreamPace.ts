/**
 * How often commits may make a stream read its tail.
 *
 * Every commit of any tenant wakes every stream, since a signal says nothing but "look". So each stream looks at
 * once when commits are few, and as often as all streams together can afford when they are many.
 */

/** Reads that a stream makes at once before it has to wait. */
const BURST = 10
/** Shortest time between two reads for long, in milliseconds. */
const MIN_INTERVAL_MILLIS = 50
/** Longest one: a stream looks as often without having been told. */
const MAX_INTERVAL_MILLIS = 1_000
/** Reads a second, of all streams of this process together, that commits may cause for long. */
const MAX_READS_PER_SECOND = 500

/** Of one stream. Mutable; instants are epoch milliseconds. */
export class StreamPace {
  /** When all of the burst may be used again. */
  #rested = 0

  /** Takes a read, and gives how long it has to wait, in milliseconds; `streams`: how many are open. */
  delay(now: number, streams: number): number {
    const affordable = (streams * 1_000) / MAX_READS_PER_SECOND
    const interval = Math.min(MAX_INTERVAL_MILLIS, Math.max(MIN_INTERVAL_MILLIS, affordable))
    const wait = Math.max(0, this.#rested - now - (BURST - 1) * interval)
    this.#rested = Math.max(this.#rested, now) + interval
    return wait
  }
}
