/**
 * A way of delivering webhooks, and how its work is timed.
 */
import { Client } from "pg"
import { clusterCpuMicros, cpuMicros } from "../ProcessTime.ts"
import type { Worker } from "./Processes.ts"
import { written } from "./Processes.ts"
import { FAN_OUT, type Publish, publishAll } from "./Scenario.ts"

export interface Side {
  readonly name: string
  readonly databaseUrl: string
  /** Publishes in this process. */
  readonly publish: Publish
  readonly startWorker: () => Promise<Worker>
  readonly close: () => Promise<void>
}

const DEADLINE_MILLIS = 60_000

/** Which benchmark it is. */
export interface Benchmark {
  readonly name: string
  /** How the title begins. */
  readonly title: string
  /** Whether the worker publishes. */
  readonly isOneProcess: boolean
}

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
 * Makes Postgres analyze the tables after a warm-up. It would do so by itself within a minute, and until then its
 * plans depend on chance.
 */
export const afterWarmUp = async ({ databaseUrl }: Side, round: number): Promise<void> => {
  if (round >= 0) return
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query("analyze")
  await client.end()
}

let published = 0

/** The events that are published next, of all sides. */
export const nextOf = (events: number) => {
  published += events
  return { first: published - events, count: events }
}

export interface DeliverOptions {
  readonly events: number
  /** How many of their results to wait for. Default: all. */
  readonly results?: number
  /** The server's first process. */
  readonly postmaster: number | undefined
  /** Whether the first worker publishes, and not the process of the benchmark. */
  readonly isOneProcess?: boolean
}

/** Publishes events while workers deliver them; the time ends when the last result is written. */
export const deliver = async (
  side: Side,
  workers: ReadonlyArray<Worker>,
  { events, isOneProcess = false, postmaster, results = events * FAN_OUT }: DeliverOptions,
): Promise<Delivered> => {
  const before = workers.reduce((total, worker) => total + worker.written, 0)
  const ofWorkers = () => workers.reduce((total, worker) => total + cpuMicros(worker.process.pid!), 0)
  const ofPostgres = () => (postmaster === undefined ? Number.NaN : clusterCpuMicros(postmaster))
  const cpu = { workers: ofWorkers(), postgres: ofPostgres() }
  const started = performance.now()
  const done = written(workers, before + results, DEADLINE_MILLIS)
  const publications = nextOf(events)
  const publishing = isOneProcess ? workers[0]!.publish(publications) : publishAll(side.publish, publications)
  await Promise.all([publishing, done])
  return {
    perSecond: results / ((performance.now() - started) / 1000),
    workerCpuMicros: (ofWorkers() - cpu.workers) / results,
    postgresCpuMicros: (ofPostgres() - cpu.postgres) / results,
  }
}
