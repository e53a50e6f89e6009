/**
 * Deliveries that publications of other processes leased to this one, which has not read them yet. It is synchronous. Instants
 * are those of `performance.now`.
 */
import type { Handed } from "../Notices.ts"

/** Most that wait to be read. The leases of others end by themselves. */
export const MAX_UNREAD = 10_000
/** For how long it is tried to read a delivery, in milliseconds: as long as its lease mostly is. */
const READ_FOR_MILLIS = 30_000

export class UnreadDeliveries {
  /** The oldest first. `until`: how long it is tried to read each. */
  readonly #waiting: Array<Handed & { readonly until: number }> = []

  get size(): number {
    return this.#waiting.length
  }

  add(handed: ReadonlyArray<Handed>, now: number): void {
    const until = now + READ_FOR_MILLIS
    for (const one of handed) if (this.size < MAX_UNREAD) this.#waiting.push({ ...one, until })
  }

  /** The oldest ones. They stay. */
  first(most: number): ReadonlyArray<Handed> {
    return this.#waiting.slice(0, most)
  }

  /** Removes the oldest ones. */
  removeFirst(count: number): void {
    this.#waiting.splice(0, count)
  }

  /** Removes those that it was tried to read for long enough. */
  removeLate(now: number): void {
    while (this.#waiting[0] !== undefined && this.#waiting[0].until <= now) this.#waiting.shift()
  }
}
