/**
 * How long workers take for deliveries, and the processor time that a delivery costs them and Postgres.
 */
import { cpus } from "node:os"
import { clusterCpuMicros, cpuMicros } from "../ProcessTime.ts"
import { intervalOf } from "../Statistics.ts"
import { type Worker, written } from "./Processes.ts"

const DEADLINE_MILLIS = 60_000

/** The costs of a round, for each delivery. */
export interface Cost {
  readonly workerCpuMicros: number
  /** Of all processes of the server. */
  readonly postgresCpuMicros: number
  /** How long cores had nothing to do, added up. What is left of the time of all cores is that of other processes. */
  readonly idleMicros: number
}

export interface Delivered extends Cost {
  readonly perSecond: number
}

/** How long the cores have been idle. */
const idleMillis = (): number => cpus().reduce((total, { times }) => total + times.idle, 0)

/**
 * Begins work, and measures until the workers have written so many results and the work has ended. `postmaster`: the
 * server's first process.
 */
export const timed = async (
  workers: ReadonlyArray<Worker>,
  results: number,
  postmaster: number | undefined,
  begin: () => unknown,
): Promise<Delivered> => {
  const before = workers.reduce((total, worker) => total + worker.written, 0)
  const ofWorkers = () => workers.reduce((total, worker) => total + cpuMicros(worker.process.pid!), 0)
  const ofPostgres = () => (postmaster === undefined ? Number.NaN : clusterCpuMicros(postmaster))
  const cpu = { workers: ofWorkers(), postgres: ofPostgres(), idle: idleMillis() }
  const started = performance.now()
  const done = written(workers, before + results, DEADLINE_MILLIS)
  await Promise.all([begin(), done])
  return {
    perSecond: results / ((performance.now() - started) / 1000),
    workerCpuMicros: (ofWorkers() - cpu.workers) / results,
    postgresCpuMicros: (ofPostgres() - cpu.postgres) / results,
    idleMicros: ((idleMillis() - cpu.idle) * 1_000) / results,
  }
}

/** The costs of each side that was measured, with their intervals. Prints them. */
export const costsOf = (
  sides: ReadonlyArray<{ readonly name: string; readonly costs: ReadonlyArray<Cost> }>,
) =>
  sides
    .filter(({ costs }) => costs.length > 0)
    .map(({ costs, name }) => {
      const of = (read: (cost: Cost) => number) => intervalOf(costs.map(read))
      const found = {
        workerCpuMicros: of(({ workerCpuMicros }) => workerCpuMicros),
        postgresCpuMicros: of(({ postgresCpuMicros }) => postgresCpuMicros),
        idleMicros: of(({ idleMicros }) => idleMicros),
      }
      const [worker, postgres, idle] = Object.values(found).map(({ median }) => median.toFixed(0))
      console.log(
        `${name}: a delivery takes ${worker} µs of the workers' processor time and ${postgres} µs of Postgres's; ${idle} µs are idle`,
      )
      return { name, ...found }
    })
