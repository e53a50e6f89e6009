/**
 * Webhooks on pg-boss: a worker process, tuned as its documentation recommends (batches, no pause after a full batch,
 * LISTEN). Two workers take turns: one sends while the other fetches or completes.
 */
import { Pool } from "pg"
import { PgBoss } from "pg-boss"
import { counter, IN_FLIGHT, obey } from "../webhooks/Scenario.ts"
import { publisher, QUEUE } from "./PgBoss.ts"
import { isDelivered, type Job, makeSender, write } from "./Webhooks.ts"

const WORKERS = 2

const connectionString = process.env["DATABASE_URL"] ?? ""
const pool = new Pool({ connectionString, max: 10 })
const boss = new PgBoss({ connectionString, schedule: false, useListenNotify: true, max: 10 })
boss.on("error", console.error)
const send = makeSender(pool, IN_FLIGHT)
const count = counter()

await boss.start()
obey(
  async () => {
    const options = {
      batchSize: IN_FLIGHT,
      localConcurrency: WORKERS,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 0.5,
      notifyPollingIntervalSeconds: 0.5,
      perJobResults: true,
      includeMetadata: true,
    } as const
    await boss.work<Job, unknown, typeof options>(QUEUE, options, async (jobs) => {
      const outcomes = await Promise.all(jobs.map(({ data, retryCount }) => send(data, retryCount + 1)))
      await write(pool, outcomes)
      count(outcomes.filter(isDelivered).length)
      return jobs.map(({ id }, index) => ({
        id,
        status: isDelivered(outcomes[index]!) ? "completed" : "failed",
      }))
    })
  },
  async () => {
    await boss.offWork(QUEUE)
  },
  publisher(pool, boss),
)
