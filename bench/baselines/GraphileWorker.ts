/**
 * Webhooks on graphile-worker: the publisher.
 */
import { runMigrations } from "graphile-worker"
import { Pool } from "pg"
import { Worker } from "../webhooks/Processes.ts"
import type { Publish } from "../webhooks/Scenario.ts"
import type { Side } from "../webhooks/Side.ts"
import { prepare, PUBLISH, publishing } from "./Webhooks.ts"

/** One statement, so one transaction and one round trip. */
const PUBLISH_AND_QUEUE = `${PUBLISH}
select count(*) from graphile_worker.add_jobs((
  select array_agg(row(
    'deliver', json_build_object('deliveryId', q.id, 'endpointId', q.endpoint_id, 'eventId', $1::uuid, 'body', $4::text),
    null, null, null, null, null, null
  )::graphile_worker.job_spec) from queued q
))`

/** Publishes an event, and queues its deliveries. */
export const publisher = (pool: Pool): Publish => publishing(pool, PUBLISH_AND_QUEUE)

const nameOf = (lingerMillis: number | undefined): string => {
  if (lingerMillis === undefined) return "graphile-worker"
  return lingerMillis === 0
    ? "graphile-worker, results grouped by hand"
    : `graphile-worker, grouped by hand for ${lingerMillis} ms`
}

/**
 * `lingerMillis`: one writer writes the results of many tasks together, and waits so long for them. Without it each task
 * writes its own result, as tasks usually do.
 */
export const make = async (
  databaseUrl: string,
  urlOf: (index: number) => string,
  lingerMillis?: number,
): Promise<Side> => {
  const pool = new Pool({ connectionString: databaseUrl, max: 10 })
  await runMigrations({ connectionString: databaseUrl })
  await prepare(pool, urlOf)
  return {
    name: nameOf(lingerMillis),
    databaseUrl,
    publish: publisher(pool),
    startWorker: () =>
      Worker.start("baselines/GraphileWorkerProcess.ts", {
        DATABASE_URL: databaseUrl,
        ...(lingerMillis === undefined ? {} : { LINGER_MILLIS: String(lingerMillis) }),
      }),
    close: () => pool.end(),
  }
}
