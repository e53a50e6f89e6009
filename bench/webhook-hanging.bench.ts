/**
 * B6: the figures of B4 while a tenth of the endpoints accept requests and never answer, against those with no such
 * endpoint. Deliveries to hanging endpoints are created, too; only answered ones are counted.
 */
import { compare } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Ours from "./webhooks/Ours.ts"
import { end, startReceiver } from "./webhooks/Processes.ts"
import { ENDPOINTS, FAN_OUT, TYPES } from "./webhooks/Scenario.ts"
import { afterWarmUp, deliver } from "./webhooks/Side.ts"

const EVENTS = 1_500
/** A tenth of the endpoints, of two types. */
const HANGING = new Set([0, 11])

/** How many deliveries of a round are answered. */
const answered = EVENTS * FAN_OUT - (EVENTS / TYPES) * HANGING.size

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  const urlOf = (index: number) => `${receiver.url}/hooks/${index}`
  const hangingUrlOf = (index: number) =>
    HANGING.has(index) ? `${receiver.url}/hang/${index}` : urlOf(index)
  const { postmaster } = server
  try {
    const some = await Ours.make(
      `${HANGING.size} of ${ENDPOINTS} endpoints hang`,
      await server.createDatabase("bench_hanging_some"),
      hangingUrlOf,
    )
    const none = await Ours.make("none hangs", await server.createDatabase("bench_hanging_none"), urlOf)
    const [someWorker, noneWorker] = await Promise.all([some.startWorker(), none.startWorker()])
    someWorker.go()
    noneWorker.go()
    const contender = (side: typeof some, worker: typeof someWorker, results: number) => ({
      name: side.name,
      round: async (round: number) => {
        const { perSecond } = await deliver(side, [worker], { events: EVENTS, results, postmaster })
        await afterWarmUp(side, round)
        return perSecond
      },
    })
    await compare({
      name: "webhook-hanging",
      title: `B6: ${EVENTS} events a round to ${FAN_OUT} of ${ENDPOINTS} endpoints each, one worker process, Postgres ${server.version}`,
      unit: "answered deliveries/s",
      isRate: true,
      contenders: [contender(some, someWorker, answered), contender(none, noneWorker, EVENTS * FAN_OUT)],
    })
    await Promise.all([someWorker.end(), noneWorker.end()])
    await Promise.all([some.close(), none.close()])
  } finally {
    await end(receiver.process)
    await server.stop()
  }
}
