/**
 * A way of delivering webhooks, and how its work is timed.
 */
import { Client } from "pg"
import { type Delivered, timed } from "./Costs.ts"
import type { Worker } from "./Processes.ts"
import { FAN_OUT, type Publish, publishAll } from "./Scenario.ts"

export interface Side {
  readonly name: string
  readonly databaseUrl: string
  /** Publishes in this process. */
  readonly publish: Publish
  readonly startWorker: () => Promise<Worker>
  readonly close: () => Promise<void>
}

/** Which benchmark it is. */
export interface Benchmark {
  readonly name: string
  /** How the title begins. */
  readonly title: string
  /** Whether the worker publishes. */
  readonly isOneProcess: boolean
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
export const deliver = (
  side: Side,
  workers: ReadonlyArray<Worker>,
  { events, isOneProcess = false, postmaster, results = events * FAN_OUT }: DeliverOptions,
): Promise<Delivered> => {
  const publications = nextOf(events)
  return timed(workers, results, postmaster, () =>
    isOneProcess ? workers[0]!.publish(publications) : publishAll(side.publish, publications),
  )
}
