/**
 * B14: how long it takes to record usage while a bill run is under way, in the background and at full speed, against without
 * one. The records come from another process, 100 in a second. A figure is the 99th percentile of a round.
 *
 * `BENCH_SUBSCRIPTIONS` and `BENCH_ROUNDS` change the sizes.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { Pace } from "@billwright/core"
import * as BillRunWorld from "./BillRunWorld.ts"
import { compare, percentile } from "./Comparison.ts"
import { connected } from "./Fill.ts"
import * as PostgresServer from "./PostgresServer.ts"

const SUBSCRIPTIONS = Number(process.env["BENCH_SUBSCRIPTIONS"] ?? 2_000)
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 5)
const RECORDS = 1_000
const QUIET_MILLIS = 8_000

/** The first of the two months that a round bills. The warm-up is round -1. */
const firstMonth = (round: number): number => BillRunWorld.FIRST_MONTH + 1 + 2 * (round + 1)

const startIngest = async (url: string): Promise<ChildProcess> => {
  const child = fork(join(import.meta.dirname, "BillRunIngest.ts"), {
    env: { ...process.env, DATABASE_URL: url },
  })
  await once(child, "message")
  return child
}

/** The 99th percentile of recording while some work is done, in milliseconds. */
const p99While = async (child: ChildProcess, work: () => Promise<unknown>): Promise<number> => {
  child.send("start")
  await work()
  child.send("stop")
  const [millis] = (await once(child, "message")) as [ReadonlyArray<number>]
  return percentile(millis, 0.99)
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const url = await server.createDatabase("bench_bill_run_ingest")
  const world = await BillRunWorld.make(url, SUBSCRIPTIONS)
  const child = await startIngest(url)
  try {
    await connected(url, async (client) => {
      await client.query("vacuum analyze")
      await PostgresServer.makeLogFiles(client)
      const during = async (pace: Pace, month: number): Promise<number> => {
        await BillRunWorld.useMonth(client, month, RECORDS)
        return p99While(child, () => world.bill(month, pace))
      }
      await compare({
        name: "bill-run-ingest",
        title: `B14: the 99th percentile of recording usage during bill runs of ${SUBSCRIPTIONS} subscriptions`,
        unit: "ms",
        isRate: false,
        rounds: ROUNDS,
        contenders: [
          {
            name: "during a run in the background",
            round: (round) => during("background", firstMonth(round)),
          },
          { name: "during a run at full speed", round: (round) => during("full", firstMonth(round) + 1) },
          { name: "without one", round: () => p99While(child, () => pause(QUIET_MILLIS)) },
        ],
      })
    })
  } finally {
    child.disconnect()
    await world.close()
    await server.stop()
  }
}
