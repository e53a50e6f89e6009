/**
 * B11: 4, 2 and 1 worker processes on one Postgres. The events are published before the workers begin, so that only
 * the workers are measured. A round ends when the result of the last delivery is written.
 */
import { compare } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Ours from "./webhooks/Ours.ts"
import { end, startReceiver, type Worker, written } from "./webhooks/Processes.ts"
import { ENDPOINTS, FAN_OUT, publishAll } from "./webhooks/Scenario.ts"
import { afterWarmUp, nextOf, type Side } from "./webhooks/Side.ts"

const WORKERS = [4, 2, 1]
const EVENTS = 1_500
const DEADLINE_MILLIS = 60_000

const drain = async (side: Side, workers: ReadonlyArray<Worker>): Promise<number> => {
  await publishAll(side.publish, nextOf(EVENTS))
  const before = workers.reduce((total, worker) => total + worker.written, 0)
  const started = performance.now()
  const done = written(workers, before + EVENTS * FAN_OUT, DEADLINE_MILLIS)
  for (const worker of workers) worker.go()
  await done
  const seconds = (performance.now() - started) / 1000
  await Promise.all(workers.map((worker) => worker.stop()))
  return (EVENTS * FAN_OUT) / seconds
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  try {
    const side = await Ours.make(
      "Billwright",
      await server.createDatabase("bench_workers"),
      (index) => `${receiver.url}/hooks/${index}`,
    )
    const workers = await Promise.all(Array.from({ length: Math.max(...WORKERS) }, () => side.startWorker()))
    await compare({
      name: "webhook-workers",
      title: `B11: ${EVENTS * FAN_OUT} deliveries a round to ${ENDPOINTS} endpoints, Postgres ${server.version}`,
      unit: "deliveries/s",
      isRate: true,
      pairs: [
        ["2 worker processes", "1 worker process"],
        ["4 worker processes", "2 worker processes"],
      ],
      contenders: WORKERS.map((count) => ({
        name: count === 1 ? "1 worker process" : `${count} worker processes`,
        round: async (round: number) => {
          const perSecond = await drain(side, workers.slice(0, count))
          await afterWarmUp(side, round)
          return perSecond
        },
      })),
    })
    await Promise.all(workers.map((worker) => worker.end()))
    await side.close()
  } finally {
    await end(receiver.process)
    await server.stop()
  }
}
