/**
 * The time from an event's commit to the first byte of its first delivery at the receiver, at 50 events a second; against
 * graphile-worker and pg-boss.
 *
 * The event is published by the process that sends it, or by another one, which then has to notify the sender. The time of the
 * commit is when the publisher gets its answer. In one process, the first byte can come before that: then it is 0.
 *
 * Between two processes, each round of our side is followed by commits alone: their 99th percentile says how much of the
 * others is the disk.
 *
 * Which stages our time goes to between two processes is recorded after the rounds, by another worker. Recording has a cost, so
 * it doesn't count.
 */
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

const EVENTS = 200
const INTERVAL_MILLIS = 20
const DEADLINE_MILLIS = 30_000

/** The parts of our side's time, in milliseconds. Each is a median. */
interface Spent {
  /** From the commit to the claim: the notification, and work that is running at that time. */
  readonly news: number
  /** The claim, which is a separate transaction. */
  readonly claim: number
  /** From the claim's answer to the request: reading it, and signing. */
  readonly preparation: number
  /** From the request to the first byte at the receiver. */
  readonly request: number
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
    news: median(known.map(({ claimBegun, committed }) => claimBegun - committed)),
    claim: median(known.map(({ claimBegun, claimed }) => claimed - claimBegun)),
    preparation: median(known.map(({ claimed, sent }) => sent - claimed)),
    request: median(known.map(({ arrived, sent }) => arrived - sent)),
  }
}

interface Published {
  readonly commits: ReadonlyArray<Commit>
  readonly arrivals: ReadonlyMap<string, number>
}

/** Publishes the events of a round, one after another, and waits until they are delivered. */
const publish = async (
  side: Side,
  worker: Worker,
  receiver: Receiver,
  isOneProcess: boolean,
): Promise<Published> => {
  const done = written([worker], worker.written + EVENTS * FAN_OUT, DEADLINE_MILLIS)
  const publications = { ...nextOf(EVENTS), every: INTERVAL_MILLIS }
  const commits = await (isOneProcess ? worker.publish(publications) : publishAll(side.publish, publications))
  await done
  return { commits, arrivals: await receiver.arrivals() }
}

const latenciesOf = ({ arrivals, commits }: Published): ReadonlyArray<number> =>
  commits.map(([id, committed]) => Math.max(0, arrivals.get(id)! - committed))

/** The stages of our side, in a round of their own after a warm-up. */
const stagesOf = async (side: Side, receiver: Receiver): Promise<Spent> => {
  const worker = await side.startWorker()
  worker.go()
  await publish(side, worker, receiver, false)
  await afterWarmUp(side, -1)
  await worker.stages()
  const { arrivals, commits } = await publish(side, worker, receiver, false)
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
    const started = await Promise.all(
      sides.map(async (side) => ({
        name: side.name,
        side,
        worker: await side.startWorker(),
        p99: [] as Array<number>,
      })),
    )
    for (const { worker } of started) worker.go()
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
      contenders: started.map(({ p99, side, worker, ...its }): Contender => ({
        name: its.name,
        round: async (round) => {
          const latencies = latenciesOf(await publish(side, worker, receiver, isOneProcess))
          await afterWarmUp(side, round)
          if (round >= 0) p99.push(percentile(latencies, 0.99))
          if (side === sides[0] && !isProfiled) await alone?.round(round)
          return median(latencies)
        },
      })),
      details: async () => ({
        ...p99Of(started),
        ...(alone === undefined
          ? {}
          : { commitAlone: alone.figures(), spentMillis: await stagesOf(staged, receiver) }),
      }),
    })
    await alone?.close()
    await staged.close()
    for (const { side, worker } of started) {
      await worker.end()
      await side.close()
    }
  } finally {
    await end(receiver.process)
    await server.stop()
  }
}
