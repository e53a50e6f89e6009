/**
 * B11: 4, 2 and 1 worker processes on one Postgres, and the same with a queue by hand. The events are published before the
 * workers begin, so that only the workers are measured. A round ends when the result of the last delivery is written.
 */
import * as SkipLocked from "./baselines/SkipLocked.ts"
import { compare, type Contender } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { type Cost, costsOf, type Delivered, timed } from "./webhooks/Costs.ts"
import * as Ours from "./webhooks/Ours.ts"
import { end, startReceiver, type Worker } from "./webhooks/Processes.ts"
import { ENDPOINTS, FAN_OUT, publishAll } from "./webhooks/Scenario.ts"
import { afterWarmUp, nextOf, type Side } from "./webhooks/Side.ts"

const WORKERS = [4, 2, 1]
const EVENTS = 1_500
/**
 * How often each worker does the work of a round by itself before the rounds. Each process compiles its own code, and would
 * be slower in the rounds of four than in those of one: it makes a quarter of the deliveries.
 */
const WARM_UPS = 3

const drain = async (
  side: Side,
  workers: ReadonlyArray<Worker>,
  postmaster: number | undefined,
): Promise<Delivered> => {
  await publishAll(side.publish, nextOf(EVENTS))
  const delivered = await timed(workers, EVENTS * FAN_OUT, postmaster, () => {
    for (const worker of workers) worker.go()
  })
  await Promise.all(workers.map((worker) => worker.stop()))
  return delivered
}

interface Measured extends Contender {
  readonly costs: ReadonlyArray<Cost>
}

/** The name of a side with so many workers. Ours has no name of its own. */
const nameOf = (isOurs: boolean, count: number): string =>
  `${count} worker process${count === 1 ? "" : "es"}${isOurs ? "" : " of the queue by hand"}`

const contenderOf = (
  name: string,
  side: Side,
  workers: ReadonlyArray<Worker>,
  postmaster: number | undefined,
): Measured => {
  const costs: Array<Cost> = []
  return {
    name,
    costs,
    round: async (round) => {
      const { perSecond, ...cost } = await drain(side, workers, postmaster)
      if (round >= 0) costs.push(cost)
      await afterWarmUp(side, round)
      return perSecond
    },
  }
}

const warmUp = async (
  side: Side,
  workers: ReadonlyArray<Worker>,
  postmaster: number | undefined,
): Promise<void> => {
  for (let turn = 0; turn < WARM_UPS; turn++) {
    for (const worker of workers) await drain(side, [worker], postmaster)
  }
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  const urlOf = (index: number) => `${receiver.url}/hooks/${index}`
  const { postmaster } = server
  try {
    const sides = [
      await Ours.make("Billwright", await server.createDatabase("bench_workers"), urlOf),
      await SkipLocked.make(await server.createDatabase("bench_workers_skip"), urlOf),
    ]
    const contenders: Array<Measured> = []
    const workersOfAll: Array<Worker> = []
    for (const [index, side] of sides.entries()) {
      const workers = await Promise.all(
        Array.from({ length: Math.max(...WORKERS) }, () => side.startWorker()),
      )
      await warmUp(side, workers, postmaster)
      workersOfAll.push(...workers)
      for (const count of WORKERS) {
        contenders.push(contenderOf(nameOf(index === 0, count), side, workers.slice(0, count), postmaster))
      }
    }
    await compare({
      name: "webhook-workers",
      title: `B11: ${EVENTS * FAN_OUT} deliveries a round to ${ENDPOINTS} endpoints, Postgres ${server.version}`,
      unit: "deliveries/s",
      isRate: true,
      pairs: [true, false].flatMap((isOurs) => [
        [nameOf(isOurs, 2), nameOf(isOurs, 1)] as const,
        [nameOf(isOurs, 4), nameOf(isOurs, 2)] as const,
      ]),
      contenders,
      details: () => ({ costs: costsOf(contenders) }),
    })
    await Promise.all(workersOfAll.map((worker) => worker.end()))
    for (const side of sides) await side.close()
  } finally {
    await end(receiver.process)
    await server.stop()
  }
}
