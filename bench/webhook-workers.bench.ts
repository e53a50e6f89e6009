/**
 * B11: 4, 2 and 1 worker processes on one Postgres, and the same with a queue by hand. The events are published before the
 * workers begin, so that only the workers are measured. A round ends when the result of the last delivery is written.
 *
 * Each round has new processes. Processes of the same build differ from each other, so rounds of the same ones would say more
 * about these than about the build.
 */
import * as SkipLocked from "./baselines/SkipLocked.ts"
import { compare, type Contender } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { isProfiled } from "./Rounds.ts"
import { type Cost, costsOf, type Delivered, timed } from "./webhooks/Costs.ts"
import * as Ours from "./webhooks/Ours.ts"
import { end, startReceiver, type Worker } from "./webhooks/Processes.ts"
import { ENDPOINTS, FAN_OUT, publishAll } from "./webhooks/Scenario.ts"
import { afterWarmUp, nextOf, type Side } from "./webhooks/Side.ts"

const WORKERS = [4, 2, 1]
const EVENTS = 1_500
/**
 * How often each worker does the work of a round by itself before it is measured. Each process compiles its own code, and would
 * be slower in a group of four than alone: it makes a quarter of the deliveries. Not in a profile, which would be mostly of that.
 */
const WARM_UPS = isProfiled ? 0 : 2

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

/** The worker processes of a side. */
class Crew {
  readonly #side: Side
  readonly #postmaster: number | undefined
  #workers: ReadonlyArray<Worker> = []
  #round: number | undefined

  constructor(side: Side, postmaster: number | undefined) {
    this.#side = side
    this.#postmaster = postmaster
  }

  /** Those of a round. The first call in a round starts them, and lets them compile their code. */
  async of(round: number): Promise<ReadonlyArray<Worker>> {
    if (this.#round === round) return this.#workers
    await this.end()
    this.#workers = await Promise.all(
      Array.from({ length: Math.max(...WORKERS) }, () => this.#side.startWorker()),
    )
    this.#round = round
    for (let turn = 0; turn < WARM_UPS; turn++) {
      for (const worker of this.#workers) await drain(this.#side, [worker], this.#postmaster)
    }
    return this.#workers
  }

  async end(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end()))
    this.#workers = []
  }
}

const contenderOf = (
  name: string,
  side: Side,
  crew: Crew,
  count: number,
  postmaster: number | undefined,
): Measured => {
  const costs: Array<Cost> = []
  return {
    name,
    costs,
    round: async (round) => {
      const workers = await crew.of(round)
      const { perSecond, ...cost } = await drain(side, workers.slice(0, count), postmaster)
      if (round >= 0) costs.push(cost)
      await afterWarmUp(side, round)
      return perSecond
    },
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
    const crews = sides.map((side) => new Crew(side, postmaster))
    const contenders = sides.flatMap((side, index) =>
      WORKERS.map((count) => contenderOf(nameOf(index === 0, count), side, crews[index]!, count, postmaster)),
    )
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
    for (const crew of crews) await crew.end()
    for (const side of sides) await side.close()
  } finally {
    await end(receiver.process)
    await server.stop()
  }
}
