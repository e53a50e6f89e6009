/**
 * When a statement of this process may notify of its own commit: see docs/decisions/0049. It is synchronous. Instants are those
 * of `performance.now`.
 */

/** The pause between two notifications, in milliseconds. */
export const NOTIFY_INTERVAL_MILLIS = 5
/** The part of the time in which statements may notify. For so long other commits with `NOTIFY` wait for them. */
const PART = 1 / 5
/** How much of that time is saved at most, in milliseconds, so that one commit that the disk holds up makes no pause. */
const MAX_SAVED_MILLIS = 50

/**
 * How much more than that was taken is remembered at most, in milliseconds. A statement may wait for a connection or for somebody's
 * lock, and others do not wait for it meanwhile.
 */
const MAX_OWED_MILLIS = 1_000

export class NoticeTime {
  #saved = MAX_SAVED_MILLIS
  #savedAt: number
  #nextAt = -Infinity
  #begunAt: number | undefined

  constructor(now: number) {
    this.#savedAt = now
  }

  /** Whether a statement that begins now may notify. Then no other one may, until it calls `end`. */
  begin(now: number): boolean {
    this.#save(now)
    if (this.#begunAt !== undefined || now < this.#nextAt || this.#saved <= 0) return false
    this.#begunAt = now
    return true
  }

  end(now: number): void {
    this.#save(now)
    this.#saved = Math.max(-MAX_OWED_MILLIS, this.#saved - (now - (this.#begunAt ?? now)))
    this.#begunAt = undefined
    this.#nextAt = now + NOTIFY_INTERVAL_MILLIS
  }

  #save(now: number): void {
    this.#saved = Math.min(MAX_SAVED_MILLIS, this.#saved + (now - this.#savedAt) * PART)
    this.#savedAt = now
  }
}
