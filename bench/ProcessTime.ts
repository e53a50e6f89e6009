/**
 * The processor time of other processes: what a request costs, whatever else the machine is busy with.
 */
import { readdirSync, readFileSync } from "node:fs"

/** Linux counts in hundredths of a second, on every machine that Node runs on. */
const MICROS_A_TICK = 10_000

const fieldsOf = (pid: number): ReadonlyArray<number> => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  // The name of the program stands in parentheses and may hold spaces.
  return stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number)
}

/** The time that a process has used, its kernel's and its own, in microseconds. NaN but on Linux. */
export const cpuMicros = (pid: number): number => {
  if (process.platform !== "linux") return Number.NaN
  const fields = fieldsOf(pid)
  return (fields[11]! + fields[12]!) * MICROS_A_TICK
}

/** The time that those processes had used that a process has started and that have ended. */
const endedMicros = (pid: number): number => {
  const fields = fieldsOf(pid)
  return (fields[13]! + fields[14]!) * MICROS_A_TICK
}

/** The process that started a process. */
export const parentOf = (pid: number): number | undefined => {
  try {
    return fieldsOf(pid)[1]
  } catch {
    return undefined // it is on another machine, or has ended
  }
}

/** The processes that a process has started and that are running. */
const childrenOf = (pid: number): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid)

/** None of a process that has just ended. */
const cpuMicrosOrNone = (pid: number): number => {
  try {
    return cpuMicros(pid)
  } catch {
    return 0
  }
}

/**
 * The time that a Postgres server has used, with all its processes, those that have ended included, in
 * microseconds. `postmaster` is its first process. NaN but on Linux.
 */
export const clusterCpuMicros = (postmaster: number): number => {
  if (process.platform !== "linux") return Number.NaN
  const running = childrenOf(postmaster).reduce((total, pid) => total + cpuMicrosOrNone(pid), 0)
  return running + cpuMicros(postmaster) + endedMicros(postmaster)
}
