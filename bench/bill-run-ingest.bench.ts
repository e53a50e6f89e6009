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
import { compare } from "./Comparison.ts"
import { connected } from "./Fill.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { percentile } from "./Statistics.ts"

const SUBSCRIPTIONS = Number(process.env["BENCH_SUBSCRIPTIONS"] ?? 2_000)
const RECORDS = 1_000
const QUIET_MILLIS = 8_000

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
      let billed = BillRunWorld.FIRST_MONTH
      const during = async (pace: Pace): Promise<number> => {
        const month = ++billed
        await BillRunWorld.useMonth(client, month, RECORDS)
        await world.passDueDates(month)
        return p99While(child, () => world.bill(month, pace))
      }
      await compare({
        name: "bill-run-ingest",
        title: `B14: the 99th percentile of recording usage during bill runs of ${SUBSCRIPTIONS} subscriptions`,
        unit: "ms",
        isRate: false,
        contenders: [
          { name: "during a run in the background", round: () => during("background") },
          { name: "during a run at full speed", round: () => during("full") },
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
