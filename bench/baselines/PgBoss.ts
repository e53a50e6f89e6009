/**
 * Webhooks on pg-boss: the publisher.
 */
import { Pool, type PoolClient } from "pg"
import { PgBoss } from "pg-boss"
import { Worker } from "../webhooks/Processes.ts"
import type { Publish } from "../webhooks/Scenario.ts"
import type { Side } from "../webhooks/Side.ts"
import { eventOf, type Job, prepare, PUBLISH } from "./Webhooks.ts"

export const QUEUE = "deliver"

const PUBLISH_EVENT = `${PUBLISH} select id, endpoint_id from queued`

const inTransaction = async (pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> => {
  const client = await pool.connect()
  try {
    await client.query("begin")
    await work(client)
    await client.query("commit")
  } catch (error) {
    await client.query("rollback")
    throw error
  } finally {
    client.release()
  }
}

/** Publishes an event, and queues its deliveries. */
export const publisher =
  (pool: Pool, boss: PgBoss): Publish =>
  async (index) => {
    const { at, id, payload, type } = eventOf(index)
    await inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ id: string; endpoint_id: string }>({
        name: "publish",
        text: PUBLISH_EVENT,
        values: [id, type, at, payload],
      })
      const jobs = rows.map((row) => {
        const data: Job = { deliveryId: row.id, endpointId: row.endpoint_id, eventId: id, body: payload }
        return { data }
      })
      const db = {
        executeSql: (text: string, values: Array<unknown> = []) => client.query(text, values),
      }
      await boss.insert(QUEUE, jobs, { db })
    })
    return id
  }

export const make = async (databaseUrl: string, urlOf: (index: number) => string): Promise<Side> => {
  const pool = new Pool({ connectionString: databaseUrl, max: 10 })
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false })
  boss.on("error", console.error)
  await boss.start()
  await boss.createQueue(QUEUE, { notify: true, retryLimit: 10, retryBackoff: true })
  await prepare(pool, urlOf)
  return {
    name: "pg-boss",
    databaseUrl,
    publish: publisher(pool, boss),
    startWorker: () => Worker.start("baselines/PgBossProcess.ts", { DATABASE_URL: databaseUrl }),
    close: async () => {
      await boss.stop({ graceful: false })
      await pool.end()
    },
  }
}
