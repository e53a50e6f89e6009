/**
 * The time from an event's commit to the first byte of its first delivery at the receiver, at 50 events a second; against
 * graphile-worker and pg-boss.
 *
 * The event is published by the process that sends it, or by another one, which then has to notify the sender. The time of the
 * commit is when the publisher gets its answer. In one process, the first byte can come before that: then it is 0.
 *
 * Each round has a new worker process on each side. Processes of the same build differ from each other, so rounds of one
 * process would say more about that process than about the build. A new worker first delivers events as fast as it can, which
 * compiles its code.
 *
 * Between two processes, each round of our side is followed by commits alone: their 99th percentile says how much of the
 * others is the disk.
 *
 * Which stages our time goes to between two processes is recorded after the rounds, by another worker. Recording has a cost, so
 * it doesn't count.
 */
import { setTimeout } from "node:timers/promises"
import * as GraphileWorker from "../baselines/GraphileWorker.ts"
import * as PgBoss from "../baselines/PgBoss.ts"
import { compare, type Contender } from "../Comparison.ts"
import * as PostgresServer from "../PostgresServer.ts"
import { isProfiled } from "../Rounds.ts"
import { median, percentile } from "../Statistics.ts"
import { p99Of } from "../Tails.ts"
import * as CommitsAlone from "./CommitsAlone.ts"
import * as Ours from "./Ours.ts"
import { end, type Receiver, startReceiver, type Worker, written } from "./Processes.ts"
import { type Commit, ENDPOINTS, FAN_OUT, publishAll, type Stages } from "./Scenario.ts"
import { afterWarmUp, type Benchmark, nextOf, type Side } from "./Side.ts"

/** How many events of a round are measured. */
const EVENTS = 300
/** How many events a new worker delivers as fast as it can before it is measured. */
const WARM_UP_EVENTS = 1_000
/** The pause after that, in which Postgres and the worker do what is left to do. */
const REST_MILLIS = 1_000
const INTERVAL_MILLIS = 20
const DEADLINE_MILLIS = 30_000

/** The parts of our side's time, in milliseconds. Each is a median. */
interface Spent {
  /** From the commit until the worker has the delivery: the notification, and the read or the claim. */
  readonly news: number
  /** From then to the request: signing. */
  readonly preparation: number
  /** From the request to the first byte at the receiver. */
  readonly request: number
  /** The part of the events whose first delivery was claimed. */
  readonly claimedPart: number
}

const spentOn = (
  commits: ReadonlyArray<Commit>,
  arrivals: ReadonlyMap<string, number>,
  stages: ReadonlyMap<string, Stages>,
): Spent => {
  const known = commits.flatMap(([id, committed]) => {
    const found = stages.get(id)
    return found === undefined ? [] : [{ ...found, committed, arrived: arrivals.get(id)! }]
  })
  return {
    news: median(known.map(({ committed, leased }) => leased - committed)),
    preparation: median(known.map(({ leased, sent }) => sent - leased)),
    request: median(known.map(({ arrived, sent }) => arrived - sent)),
    claimedPart: known.filter(({ isClaimed }) => isClaimed).length / known.length,
  }
}

/** The events that are measured. */
const MEASURED = { count: EVENTS, every: INTERVAL_MILLIS }

interface Published {
  readonly commits: ReadonlyArray<Commit>
  readonly arrivals: ReadonlyMap<string, number>
}

/** Publishes events, one after another or as fast as it can, and waits until they are delivered. */
const publish = async (
  side: Side,
  worker: Worker,
  receiver: Receiver,
  isOneProcess: boolean,
  { count, ...pace }: { readonly count: number; readonly every?: number },
): Promise<Published> => {
  const done = written([worker], worker.written + count * FAN_OUT, DEADLINE_MILLIS)
  const publications = { ...nextOf(count), ...pace }
  const commits = await (isOneProcess ? worker.publish(publications) : publishAll(side.publish, publications))
  await done
  return { commits, arrivals: await receiver.arrivals() }
}

/** A new worker process that has delivered many events. */
const startWarm = async (
  side: Side,
  receiver: Receiver,
  isOneProcess: boolean,
  round: number,
): Promise<Worker> => {
  const worker = await side.startWorker()
  worker.go()
  await publish(side, worker, receiver, isOneProcess, { count: WARM_UP_EVENTS })
  await afterWarmUp(side, round)
  await setTimeout(REST_MILLIS)
  return worker
}

const latenciesOf = ({ arrivals, commits }: Published): ReadonlyArray<number> =>
  commits.map(([id, committed]) => Math.max(0, arrivals.get(id)! - committed))

/** The stages of our side, in a round of their own after a warm-up. */
const stagesOf = async (side: Side, receiver: Receiver): Promise<Spent> => {
  const worker = await startWarm(side, receiver, false, -1)
  await worker.stages()
  const { arrivals, commits } = await publish(side, worker, receiver, false, MEASURED)
  const spent = spentOn(commits, arrivals, await worker.stages())
  console.log(`Billwright: ${JSON.stringify(spent)} ms`)
  await worker.end()
  return spent
}

/** Runs the benchmark. */
export const measure = async ({ isOneProcess, name, title }: Benchmark): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  const urlOf = (index: number) => `${receiver.url}/hooks/${index}`
  try {
    const sides = [
      await Ours.make("Billwright", await server.createDatabase("bench_latency_ours"), urlOf),
      await GraphileWorker.make(await server.createDatabase("bench_latency_graphile"), urlOf),
      await PgBoss.make(await server.createDatabase("bench_latency_boss"), urlOf),
    ]
    const staged = await Ours.make(
      "Billwright, with its stages",
      await server.createDatabase("bench_latency_stages"),
      urlOf,
      true,
    )
    const measured = sides.map((side) => ({ name: side.name, side, p99: [] as Array<number> }))
    const alone = isOneProcess
      ? undefined
      : await CommitsAlone.make(await server.createDatabase("bench_latency_alone"), {
          count: EVENTS,
          millis: INTERVAL_MILLIS,
        })
    await compare({
      name,
      title: `${title}: median time from the commit to the first byte, ${1000 / INTERVAL_MILLIS} events/s to ${FAN_OUT} of ${ENDPOINTS} endpoints each, Postgres ${server.version}`,
      unit: "ms",
      isRate: false,
      contenders: measured.map(({ p99, side, ...its }): Contender => ({
        name: its.name,
        round: async (round) => {
          const worker = await startWarm(side, receiver, isOneProcess, round)
          const latencies = latenciesOf(await publish(side, worker, receiver, isOneProcess, MEASURED))
          await worker.stop()
          await worker.end()
          if (round >= 0) p99.push(percentile(latencies, 0.99))
          if (side === sides[0] && !isProfiled) await alone?.round(round)
          return median(latencies)
        },
      })),
      details: async () => ({
        ...p99Of(measured),
        ...(alone === undefined
          ? {}
          : { commitAlone: alone.figures(), spentMillis: await stagesOf(staged, receiver) }),
      }),
    })
    await alone?.close()
    await staged.close()
    for (const side of sides) await side.close()
  } finally {
    await end(receiver.process)
    await server.stop()
  }
}
