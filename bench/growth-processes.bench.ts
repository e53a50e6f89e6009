/**
 * Batch ingest by 1, 2 and 4 processes on one Postgres: their total rate, with the same customers.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { compare } from "./Comparison.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"

const PROCESSES = [1, 2, 4]
const CUSTOMERS = 1_000
const BATCHES_OF_ROUND = 64
const BATCH = 1_000

const start = async (url: string, customers: ReadonlyArray<string>): Promise<ChildProcess> => {
  const child = fork(join(import.meta.dirname, "IngestWorker.ts"), [], {
    env: { ...process.env, DATABASE_URL: url, CUSTOMERS: customers.join(",") },
  })
  await once(child, "message")
  return child
}

const record = async (workers: ReadonlyArray<ChildProcess>): Promise<number> => {
  const started = performance.now()
  await Promise.all(
    workers.map(async (worker) => {
      const done = once(worker, "message")
      worker.send(BATCHES_OF_ROUND / workers.length)
      await done
    }),
  )
  return (BATCHES_OF_ROUND * BATCH) / ((performance.now() - started) / 1000)
}

const end = async (worker: ChildProcess): Promise<void> => {
  const exit = once(worker, "exit")
  worker.disconnect()
  await exit
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const url = await server.createDatabase("bench_growth_processes")
    const ours = Ours.make(url)
    const customers = await ours.run(Ours.createCustomers(CUSTOMERS))
    await ours.close()
    const workers = await Promise.all(
      Array.from({ length: Math.max(...PROCESSES) }, () => start(url, customers)),
    )
    await compare({
      name: "growth-processes",
      title: `Batch ingest by several processes: ${BATCHES_OF_ROUND * BATCH} records a round, ${BATCH} a call, 2 callers each, Postgres ${server.version}`,
      unit: "records/s",
      isRate: true,
      contenders: PROCESSES.map((count) => ({
        name: count === 1 ? "1 process" : `${count} processes`,
        round: () => record(workers.slice(0, count)),
      })),
    })
    await Promise.all(workers.map(end))
  } finally {
    await server.stop()
  }
}
