/**
 * B5: how long after the commit of an event the first byte of its first delivery is at the receiver, at 50 events a
 * second; against graphile-worker and pg-boss.
 *
 * The event is published by another process than the one that sends it, so that all sides need news of it. The
 * commit is when the publisher hears of it.
 */
import * as GraphileWorker from "./baselines/GraphileWorker.ts"
import * as PgBoss from "./baselines/PgBoss.ts"
import { compare, type Contender, median, percentile, ratiosOf, save } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Ours from "./webhooks/Ours.ts"
import { end, type Receiver, startReceiver, type Worker, written } from "./webhooks/Processes.ts"
import { ENDPOINTS, FAN_OUT } from "./webhooks/Scenario.ts"
import { afterWarmUp, type Side } from "./webhooks/Side.ts"

const EVENTS = 200
const INTERVAL_MILLIS = 20
const ROUNDS = 5
const DEADLINE_MILLIS = 30_000

const now = (): number => performance.timeOrigin + performance.now()

const publishAt = async (side: Side, index: number, at: number): Promise<readonly [string, number]> => {
  await new Promise((done) => setTimeout(done, at - now()))
  const id = await side.publish(index)
  return [id, now()]
}

/** The latencies of a round in milliseconds. */
const measure = async (side: Side, worker: Worker, receiver: Receiver): Promise<ReadonlyArray<number>> => {
  const done = written([worker], worker.written + EVENTS * FAN_OUT, DEADLINE_MILLIS)
  const begin = now() + INTERVAL_MILLIS
  const commits = await Promise.all(
    Array.from({ length: EVENTS }, (_, index) => publishAt(side, index, begin + index * INTERVAL_MILLIS)),
  )
  await done
  const arrivals = await receiver.arrivals()
  return commits.map(([id, committed]) => Math.max(0, arrivals.get(id)! - committed))
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  const urlOf = (index: number) => `${receiver.url}/hooks/${index}`
  try {
    const sides = [
      await Ours.make("Billwright", await server.createDatabase("bench_latency_ours"), urlOf),
      await GraphileWorker.make(await server.createDatabase("bench_latency_graphile"), urlOf),
      await PgBoss.make(await server.createDatabase("bench_latency_boss"), urlOf),
    ]
    const started = await Promise.all(
      sides.map(async (side) => ({ side, worker: await side.startWorker(), p99: [] as Array<number> })),
    )
    for (const { worker } of started) worker.go()
    const title = `B5: median time from the commit to the first byte, ${1000 / INTERVAL_MILLIS} events/s to ${FAN_OUT} of ${ENDPOINTS} endpoints each, Postgres ${server.version}`
    const figures = await compare({
      name: "webhook-latency",
      title,
      unit: "ms",
      isRate: false,
      rounds: ROUNDS,
      contenders: started.map(({ p99, side, worker }): Contender => ({
        name: side.name,
        round: async (round) => {
          const latencies = await measure(side, worker, receiver)
          await afterWarmUp(side, round)
          if (round >= 0) p99.push(percentile(latencies, 0.99))
          return median(latencies)
        },
      })),
    })
    const p99 = started.map(({ p99: rounds, side }) => ({ name: side.name, median: median(rounds), rounds }))
    for (const side of p99) console.log(`${side.name}: p99 ${side.median.toFixed(1)} ms`)
    save("webhook-latency", {
      title,
      unit: "ms",
      figures,
      ratios: ratiosOf(figures, false),
      p99,
      p99Ratios: ratiosOf(p99, false),
    })
    for (const { side, worker } of started) {
      await worker.end()
      await side.close()
    }
  } finally {
    await end(receiver.process)
    await server.stop()
  }
}
