/**
 * B5: the time from an event's commit to the first byte of its first delivery at the receiver, at 50 events a second;
 * against graphile-worker and pg-boss.
 *
 * The event is published by another process than the one that sends it, so every side has to notify the sender. The
 * time of the commit is when the publisher gets its answer.
 */
import * as GraphileWorker from "./baselines/GraphileWorker.ts"
import * as PgBoss from "./baselines/PgBoss.ts"
import { compare, type Contender, median, percentile, ratiosOf, save } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Ours from "./webhooks/Ours.ts"
import { end, type Receiver, startReceiver, type Worker, written } from "./webhooks/Processes.ts"
import { ENDPOINTS, FAN_OUT, type Stages } from "./webhooks/Scenario.ts"
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

interface Round {
  readonly latencies: ReadonlyArray<number>
  readonly spent: Spent | undefined
}

const spentOn = (
  commits: ReadonlyArray<readonly [string, number]>,
  arrivals: ReadonlyMap<string, number>,
  stages: ReadonlyMap<string, Stages>,
): Spent | undefined => {
  const known = commits.flatMap(([id, committed]) => {
    const found = stages.get(id)
    return found === undefined ? [] : [{ ...found, committed, arrived: arrivals.get(id)! }]
  })
  if (known.length === 0) return undefined
  return {
    news: median(known.map(({ claimBegun, committed }) => claimBegun - committed)),
    claim: median(known.map(({ claimBegun, claimed }) => claimed - claimBegun)),
    preparation: median(known.map(({ claimed, sent }) => sent - claimed)),
    request: median(known.map(({ arrived, sent }) => arrived - sent)),
  }
}

const measure = async (side: Side, worker: Worker, receiver: Receiver, isOurs: boolean): Promise<Round> => {
  const done = written([worker], worker.written + EVENTS * FAN_OUT, DEADLINE_MILLIS)
  const begin = now() + INTERVAL_MILLIS
  const commits = await Promise.all(
    Array.from({ length: EVENTS }, (_, index) => publishAt(side, index, begin + index * INTERVAL_MILLIS)),
  )
  await done
  const arrivals = await receiver.arrivals()
  return {
    latencies: commits.map(([id, committed]) => Math.max(0, arrivals.get(id)! - committed)),
    spent: isOurs ? spentOn(commits, arrivals, await worker.stages()) : undefined,
  }
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  const urlOf = (index: number) => `${receiver.url}/hooks/${index}`
  try {
    const sides = [
      await Ours.make("Billwright", await server.createDatabase("bench_latency_ours"), urlOf, true),
      await GraphileWorker.make(await server.createDatabase("bench_latency_graphile"), urlOf),
      await PgBoss.make(await server.createDatabase("bench_latency_boss"), urlOf),
    ]
    const started = await Promise.all(
      sides.map(async (side) => ({ side, worker: await side.startWorker(), p99: [] as Array<number> })),
    )
    for (const { worker } of started) worker.go()
    const title = `B5: median time from the commit to the first byte, ${1000 / INTERVAL_MILLIS} events/s to ${FAN_OUT} of ${ENDPOINTS} endpoints each, Postgres ${server.version}`
    const ofOurs: Array<Spent> = []
    const figures = await compare({
      name: "webhook-latency",
      title,
      unit: "ms",
      isRate: false,
      rounds: ROUNDS,
      contenders: started.map(({ p99, side, worker }): Contender => ({
        name: side.name,
        round: async (round) => {
          const { latencies, spent } = await measure(side, worker, receiver, side === sides[0])
          await afterWarmUp(side, round)
          if (round >= 0) p99.push(percentile(latencies, 0.99))
          if (round >= 0 && spent !== undefined) ofOurs.push(spent)
          return median(latencies)
        },
      })),
    })
    const p99 = started.map(({ p99: rounds, side }) => ({ name: side.name, median: median(rounds), rounds }))
    for (const side of p99) console.log(`${side.name}: p99 ${side.median.toFixed(1)} ms`)
    const part = (name: keyof Spent) => median(ofOurs.map((spent) => spent[name]))
    const spentMillis = {
      news: part("news"),
      claim: part("claim"),
      preparation: part("preparation"),
      request: part("request"),
    }
    console.log(`Billwright: ${JSON.stringify(spentMillis)} ms`)
    save("webhook-latency", {
      title,
      unit: "ms",
      figures,
      ratios: ratiosOf(figures, false),
      p99,
      p99Ratios: ratiosOf(p99, false),
      spentMillis,
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
