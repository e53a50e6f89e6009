/**
 * Waits for something that another process does.
 */
import { setTimeout as pause } from "node:timers/promises"

const POLL_MILLIS = 50
const MAX_MILLIS = 40_000

/** Calls `look` repeatedly until it returns a value. */
export const until = async <A>(what: string, look: () => Promise<A | undefined | false>): Promise<A> => {
  const end = Date.now() + MAX_MILLIS
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await pause(POLL_MILLIS)
  }
}
