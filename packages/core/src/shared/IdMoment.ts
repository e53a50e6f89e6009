/**
 * The rising part of ids: a millisecond and a counter within it (RFC 9562 §6.2, method 1).
 */

/** Bits of the counter that keeps ids of one millisecond in order: 12 of `rand_a` and 14 of `rand_b`. */
export const MAX_COUNTER = 2 ** 26 - 1

/** A source of random 32-bit integers. */
export type Random32 = () => number

/** When the last id was made. */
export interface Moment {
  millis: number
  counter: number
}

/**
 * Moves to the next moment, which is later than the last one whatever the clock shows. When the counter of a
 * millisecond is used up, the next millisecond is borrowed.
 */
export const advance = (moment: Moment, now: number, random32: Random32): void => {
  if (now <= moment.millis && moment.counter < MAX_COUNTER) {
    moment.counter++
    return
  }
  moment.millis = Math.max(now, moment.millis + 1)
  moment.counter = random32() >>> 7 // 25 bits: leaves half of the range to count in
}
