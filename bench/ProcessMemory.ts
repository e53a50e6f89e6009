/**
 * The memory of other processes.
 */
import { readFileSync } from "node:fs"

/** Resident memory in megabytes, with the pages that a process shares with others. NaN on systems other than Linux. */
export const residentMegabytes = (pid: number): number => {
  if (process.platform !== "linux") return Number.NaN
  const kibibytes = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return (Number(kibibytes) * 1024) / 1e6
}

/** How often memory is read, in milliseconds. */
const EVERY_MILLIS = 50

/** Reads the memory of a process from now on. The returned function ends that, and gives the most that was read. */
export const watch = (pid: number): (() => number) => {
  let most = 0
  const look = () => {
    most = Math.max(most, residentMegabytes(pid))
  }
  look()
  const timer = setInterval(look, EVERY_MILLIS)
  return () => {
    clearInterval(timer)
    return most
  }
}
