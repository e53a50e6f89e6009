/**
 * The processor time of other processes. It shows the cost of a request even on a busy machine.
 */
import { readdirSync, readFileSync } from "node:fs"

/** Linux counts in hundredths of a second on every machine that Node supports. */
const MICROS_A_TICK = 10_000

const fieldsOf = (pid: number): ReadonlyArray<number> => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  // The program's name is in parentheses, and may contain spaces.
  return stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number)
}

/**
 * The processor time of a process, in the kernel and outside of it, in microseconds. NaN on systems other than Linux.
 */
export const cpuMicros = (pid: number): number => {
  if (process.platform !== "linux") return Number.NaN
  const fields = fieldsOf(pid)
  return (fields[11]! + fields[12]!) * MICROS_A_TICK
}

/** The processor time of a process's ended children. */
const endedMicros = (pid: number): number => {
  const fields = fieldsOf(pid)
  return (fields[13]! + fields[14]!) * MICROS_A_TICK
}

/** The parent of a process. */
export const parentOf = (pid: number): number | undefined => {
  try {
    return fieldsOf(pid)[1]
  } catch {
    return undefined // it is on another machine, or has ended
  }
}

/** The running children of a process. */
const childrenOf = (pid: number): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid)

/** A process that has just ended has none. */
const cpuMicrosOrNone = (pid: number): number => {
  try {
    return cpuMicros(pid)
  } catch {
    return 0
  }
}

/**
 * The processor time of a Postgres server with all its processes, including ended ones, in microseconds. `postmaster`
 * is its first process. NaN on systems other than Linux.
 */
export const clusterCpuMicros = (postmaster: number): number => {
  if (process.platform !== "linux") return Number.NaN
  const running = childrenOf(postmaster).reduce((total, pid) => total + cpuMicrosOrNone(pid), 0)
  return running + cpuMicros(postmaster) + endedMicros(postmaster)
}
