/**
 * What V8 does otherwise while the process starts.
 *
 * A start runs much code that is not run again, and makes many objects that stay. V8 takes both for signs of long work. It
 * compiles what ran often into faster code, which takes time from the start itself and 10 MB: the compilers, their notes and their
 * results. It also lets the space for new objects grow to 32 MB, and rarely gives it back. So both wait for the end of the
 * start. Then V8 has its own defaults, and what a server does is as fast as ever.
 */
import { setFlagsFromString } from "node:v8"

const STARTING = ["--no-opt", "--no-maglev", "--semi-space-growth-factor=1"]
/** The defaults of V8. */
const STARTED = ["--opt", "--maglev", "--semi-space-growth-factor=2"]

let isStarting = false

/** The program of the command calls it first. */
export const begin = (): void => {
  isStarting = true
  STARTING.forEach(setFlagsFromString)
}

/** A server calls it when it listens, and any other command when it has been loaded. Does nothing in another program. */
export const end = (): void => {
  if (!isStarting) return
  isStarting = false
  STARTED.forEach(setFlagsFromString)
}
