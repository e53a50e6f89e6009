/**
 * Waiting for what another process brings about.
 */
import { setTimeout as pause } from "node:timers/promises"

const POLL_MILLIS = 50
const MAX_MILLIS = 40_000

/** Looks again and again until there is something. */
export const until = async <A>(what: string, look: () => Promise<A | undefined | false>): Promise<A> => {
  const end = Date.now() + MAX_MILLIS
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await pause(POLL_MILLIS)
  }
}
