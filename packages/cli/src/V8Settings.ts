/**
 * What V8 does otherwise in a process of ours, for less memory.
 *
 * A start runs much code that is not run again, and makes many objects that stay. V8 takes both for signs of long work. It
 * compiles what ran often into faster code, which takes time from the start itself and 12 MB, for the compilers, their notes
 * and their results. It also lets the space for new objects grow. So both wait for the end of the start.
 *
 * At work, what runs often is compiled as ever, but by one thread. Each thread keeps 10 MB of its notes. The space for new
 * objects may grow to 32 MB instead of 64, because V8 rarely gives it back. With 16 MB, a busy server needed an eighth more
 * processor time.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

const COMPILERS = ["sparkplug", "maglev", "opt"] as const
const COMPILER_THREADS = 1
const MAX_NEW_SPACE_BYTES = 32 * 1024 * 1024
const CHECK_MILLIS = 1_000

/** By how much the space for new objects grows at a time. 2 is the default of V8. */
const growNewSpace = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/** The size of the space for new objects. V8 gets the most of it when it starts, and then takes only how fast it grows. */
const newSpaceBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0

const limitNewSpace = (): void => growNewSpace(newSpaceBytes() < MAX_NEW_SPACE_BYTES ? 2 : 1)

let isStarting = false

/** The program of the command calls it before it loads anything. */
export const start = (): void => {
  isStarting = true
  growNewSpace(1)
  setFlagsFromString(`--concurrent-turbofan-max-threads=${COMPILER_THREADS}`)
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
  limitNewSpace()
  setInterval(limitNewSpace, CHECK_MILLIS).unref()
}
