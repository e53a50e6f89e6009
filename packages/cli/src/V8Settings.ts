/**
 * What V8 does otherwise in a process of ours, for less memory.
 *
 * A start runs much code that is not run again, and makes many objects that stay. V8 takes both for signs of long work. It
 * compiles what ran often into faster code, which takes time from the start itself and 12 MB, for the compilers, their notes
 * and their results. It also lets the space for new objects grow, by 15 MB. So both wait for the end of the start.
 *
 * At work, everything is compiled as ever. The space for new objects grows while the process is busy, in one step, because a
 * busy server with little of it needs an eighth more processor time. It does not grow while the process mostly waits: V8
 * rarely gives it back.
 */
import { performance } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"

const COMPILERS = ["sparkplug", "maglev", "opt"] as const
/** A process is busy when its event loop works for more than this part of the time. */
const BUSY_PART = 0.5
const CHECK_MILLIS = 500

/** By how much the space for new objects grows at a time. 2 is the default of V8. */
const growNewSpace = (factor: 1 | 16): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

const growWhileBusy = (): void => {
  let last = performance.eventLoopUtilization()
  const check = (): void => {
    const now = performance.eventLoopUtilization()
    growNewSpace(performance.eventLoopUtilization(now, last).utilization > BUSY_PART ? 16 : 1)
    last = now
  }
  setInterval(check, CHECK_MILLIS).unref()
}

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
  for (const compiler of COMPILERS) setFlagsFromString(`--${compiler}`)
  growWhileBusy()
}
