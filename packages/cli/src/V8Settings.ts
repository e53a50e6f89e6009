/**
 * What V8 does otherwise while a process of ours starts, for less memory.
 *
 * A start runs much code that is not run again, and makes many objects that stay. V8 takes both for signs of long work. It
 * compiles what ran often into faster code, which takes time from the start itself and 12 MB, for the compilers, their notes
 * and their results. It also lets the space for new objects grow, by 15 MB, and rarely gives that back. So both wait for the end
 * of the start. After it, V8 works as it does by default.
 */
import { setFlagsFromString } from "node:v8"

const COMPILERS = ["sparkplug", "maglev", "opt"] as const

/** By how much the space for new objects grows at a time. 2 is the default of V8. */
const growNewSpace = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

let isStarting = false

/** The program of the command calls it before it loads anything. */
export const start = (): void => {
  isStarting = true
  growNewSpace(1)
  for (const compiler of COMPILERS) setFlagsFromString(`--no-${compiler}`)
}

/**
 * A server calls it when it listens, and any other command when it has been loaded. Does nothing in programs that include the
 * command in their own.
 */
export const work = (): void => {
  if (!isStarting) return
  isStarting = false
  growNewSpace(2)
  for (const compiler of COMPILERS) setFlagsFromString(`--${compiler}`)
}
