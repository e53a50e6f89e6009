/**
 * B4: one worker process delivers published events to a local receiver, and writes their attempts. Against the same
 * on graphile-worker and on pg-boss.
 *
 * There are 20 endpoints of 5 types, so each event makes 4 deliveries. The benchmark's process publishes while the
 * worker delivers. A round ends when the result of its last delivery is written. `baselines/Webhooks.ts` describes
 * the other sides. graphile-worker is measured twice: with tasks as they are usually written, and with a hand-written
 * writer that collects the results of many tasks.
 */
import * as GraphileWorker from "./baselines/GraphileWorker.ts"
import * as PgBoss from "./baselines/PgBoss.ts"
import { compare, type Contender, median, ratiosOf, save } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Ours from "./webhooks/Ours.ts"
import { end, startReceiver, type Worker } from "./webhooks/Processes.ts"
import { ENDPOINTS, FAN_OUT } from "./webhooks/Scenario.ts"
import { afterWarmUp, type Cost, deliver, type Side } from "./webhooks/Side.ts"

const EVENTS = 1_500
const ROUNDS = 5

const contender = (
  side: Side,
  worker: Worker,
  postmaster: number | undefined,
  costs: Array<Cost>,
): Contender => ({
  name: side.name,
  round: async (round) => {
    const { perSecond, ...cost } = await deliver(side, [worker], { events: EVENTS, postmaster })
    if (round >= 0) costs.push(cost)
    await afterWarmUp(side, round)
    return perSecond
  },
})

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  const urlOf = (index: number) => `${receiver.url}/hooks/${index}`
  const { postmaster } = server
  try {
    const sides = [
      await Ours.make("Billwright", await server.createDatabase("bench_webhooks_ours"), urlOf),
      await GraphileWorker.make(await server.createDatabase("bench_webhooks_graphile"), urlOf),
      await GraphileWorker.make(await server.createDatabase("bench_webhooks_grouped"), urlOf, true),
      await PgBoss.make(await server.createDatabase("bench_webhooks_boss"), urlOf),
    ]
    const started = await Promise.all(
      sides.map(async (side) => ({ side, worker: await side.startWorker(), costs: [] as Array<Cost> })),
    )
    for (const { worker } of started) worker.go()
    const title = `B4: ${EVENTS} events a round to ${FAN_OUT} of ${ENDPOINTS} endpoints each, one worker process, Postgres ${server.version}`
    const figures = await compare({
      name: "webhooks",
      title,
      unit: "deliveries/s",
      isRate: true,
      rounds: ROUNDS,
      contenders: started.map(({ costs, side, worker }) => contender(side, worker, postmaster, costs)),
    })
    const costs = started.map(({ costs: rounds, side }) => ({
      name: side.name,
      workerCpuMicros: median(rounds.map((cost) => cost.workerCpuMicros)),
      postgresCpuMicros: median(rounds.map((cost) => cost.postgresCpuMicros)),
    }))
    for (const cost of costs) {
      console.log(
        `${cost.name}: ${cost.workerCpuMicros.toFixed(0)} µs of the worker's processor time and ${cost.postgresCpuMicros.toFixed(0)} µs of Postgres's a delivery`,
      )
    }
    save("webhooks", { title, unit: "deliveries/s", figures, ratios: ratiosOf(figures, true), costs })
    for (const { side, worker } of started) {
      await worker.end()
      await side.close()
    }
  } finally {
    await end(receiver.process)
    await server.stop()
  }
}
