/**
 * What V8 does otherwise in a process of ours, for less memory.
 *
 * A start makes many objects that stay. V8 takes them for a sign of long work and lets the space for new objects grow, by 15 MB,
 * which it rarely gives back. So that space may grow only after the start. The flag is set twice, and not again: V8 promises
 * nothing of flags that change while it works.
 */
import { setFlagsFromString } from "node:v8"

/** By how much the space for new objects grows at a time. 2 is the default of V8. */
const growNewSpace = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

let isStarting = false

/** The program of the command calls it before it loads anything. */
export const start = (): void => {
  isStarting = true
  growNewSpace(1)
}

/**
 * A server calls it when it listens, and any other command when it has been loaded. Does nothing in programs that include the
 * command in their own.
 */
export const work = (): void => {
  if (!isStarting) return
  isStarting = false
  growNewSpace(2)
}
