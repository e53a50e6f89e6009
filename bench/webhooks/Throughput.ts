/**
 * How many deliveries of published events a worker process makes to a local receiver, and writes their attempts. Against the
 * same on graphile-worker, on pg-boss, and on a queue written by hand.
 *
 * There are 20 endpoints of 5 types, so each event makes 4 deliveries. The worker publishes them, too, or the benchmark's
 * process does. A round ends when the result of its last delivery is written. `baselines/Webhooks.ts` describes
 * the other sides. graphile-worker is measured three times: with tasks as they are usually written, with a hand-written
 * writer that collects the results of many tasks, and with one that waits 10 ms for them.
 */
import * as GraphileWorker from "../baselines/GraphileWorker.ts"
import * as PgBoss from "../baselines/PgBoss.ts"
import * as SkipLocked from "../baselines/SkipLocked.ts"
import { compare, type Contender } from "../Comparison.ts"
import * as PostgresServer from "../PostgresServer.ts"
import { type Cost, costsOf } from "./Costs.ts"
import * as Ours from "./Ours.ts"
import { end, startReceiver, type Worker } from "./Processes.ts"
import { ENDPOINTS, FAN_OUT } from "./Scenario.ts"
import { afterWarmUp, type Benchmark, deliver, type Side } from "./Side.ts"

const EVENTS = 800
const LINGER_MILLIS = 10

const contender = (
  side: Side,
  worker: Worker,
  postmaster: number | undefined,
  costs: Array<Cost>,
  isOneProcess: boolean,
): Contender => ({
  name: side.name,
  round: async (round) => {
    const { perSecond, ...cost } = await deliver(side, [worker], { events: EVENTS, postmaster, isOneProcess })
    if (round >= 0) costs.push(cost)
    await afterWarmUp(side, round)
    return perSecond
  },
})

/** Runs the benchmark. */
export const measure = async ({ isOneProcess, name, title }: Benchmark): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  const urlOf = (index: number) => `${receiver.url}/hooks/${index}`
  const { postmaster } = server
  try {
    const sides = [
      await Ours.make("Billwright", await server.createDatabase("bench_webhooks_ours"), urlOf),
      await GraphileWorker.make(await server.createDatabase("bench_webhooks_graphile"), urlOf),
      await GraphileWorker.make(await server.createDatabase("bench_webhooks_grouped"), urlOf, 0),
      await GraphileWorker.make(await server.createDatabase("bench_webhooks_linger"), urlOf, LINGER_MILLIS),
      await PgBoss.make(await server.createDatabase("bench_webhooks_boss"), urlOf),
      await SkipLocked.make(await server.createDatabase("bench_webhooks_skip"), urlOf),
    ]
    const started = await Promise.all(
      sides.map(async (side) => ({ side, worker: await side.startWorker(), costs: [] as Array<Cost> })),
    )
    for (const { worker } of started) worker.go()
    await compare({
      name,
      title: `${title}: ${EVENTS} events a round to ${FAN_OUT} of ${ENDPOINTS} endpoints each, Postgres ${server.version}`,
      unit: "deliveries/s",
      isRate: true,
      contenders: started.map(({ costs, side, worker }) =>
        contender(side, worker, postmaster, costs, isOneProcess),
      ),
      details: () => ({ costs: costsOf(started.map(({ costs, side }) => ({ name: side.name, costs }))) }),
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
