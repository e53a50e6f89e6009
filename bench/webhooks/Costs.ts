/**
 * How long workers take for deliveries, and the processor time that a delivery costs them and Postgres.
 */
import { clusterCpuMicros, cpuMicros } from "../ProcessTime.ts"
import { intervalOf } from "../Statistics.ts"
import { type Worker, written } from "./Processes.ts"

const DEADLINE_MILLIS = 60_000

/** The costs of a round, for each delivery. */
export interface Cost {
  readonly workerCpuMicros: number
  /** Of all processes of the server. */
  readonly postgresCpuMicros: number
}

export interface Delivered extends Cost {
  readonly perSecond: number
}

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
  const cpu = { workers: ofWorkers(), postgres: ofPostgres() }
  const started = performance.now()
  const done = written(workers, before + results, DEADLINE_MILLIS)
  await Promise.all([begin(), done])
  return {
    perSecond: results / ((performance.now() - started) / 1000),
    workerCpuMicros: (ofWorkers() - cpu.workers) / results,
    postgresCpuMicros: (ofPostgres() - cpu.postgres) / results,
  }
}

/** The costs of each side that was measured, with their intervals. Prints them. */
export const costsOf = (
  sides: ReadonlyArray<{ readonly name: string; readonly costs: ReadonlyArray<Cost> }>,
) =>
  sides
    .filter(({ costs }) => costs.length > 0)
    .map(({ costs, name }) => {
      const workerCpuMicros = intervalOf(costs.map((cost) => cost.workerCpuMicros))
      const postgresCpuMicros = intervalOf(costs.map((cost) => cost.postgresCpuMicros))
      console.log(
        `${name}: ${workerCpuMicros.median.toFixed(0)} µs of the workers' processor time and ${postgresCpuMicros.median.toFixed(0)} µs of Postgres's a delivery`,
      )
      return { name, workerCpuMicros, postgresCpuMicros }
    })
