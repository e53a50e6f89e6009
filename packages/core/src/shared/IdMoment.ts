/**
 * The part of an id that makes ids sort by time: a millisecond, and a counter within it (RFC 9562 §6.2, method 1).
 */

/** Largest value of the counter. It has 26 bits: 12 of `rand_a` and 14 of `rand_b`. */
export const MAX_COUNTER = 2 ** 26 - 1

/** A source of random 32-bit integers. */
export type Random32 = () => number

/** When the last id was made. */
export interface Moment {
  millis: number
  counter: number
}

/**
 * Moves to the next moment. It is later than the last one, also when the clock was set back. When the counter of a
 * millisecond is used up, the moment moves to the next millisecond early.
 */
export const advance = (moment: Moment, now: number, random32: Random32): void => {
  if (now <= moment.millis && moment.counter < MAX_COUNTER) {
    moment.counter++
    return
  }
  moment.millis = Math.max(now, moment.millis + 1)
  moment.counter = random32() >>> 7 // 25 random bits leave at least half of the range to count up
}
