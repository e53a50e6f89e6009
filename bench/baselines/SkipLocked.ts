/**
 * Webhooks on a queue by hand: the publisher. Jobs are rows that workers take with `for update skip locked`, and a notification
 * wakes them.
 */
import { Pool } from "pg"
import { Worker } from "../webhooks/Processes.ts"
import type { Publish } from "../webhooks/Scenario.ts"
import type { Side } from "../webhooks/Side.ts"
import { prepare, PUBLISH, publishing } from "./Webhooks.ts"

/** What publishers notify workers of. */
export const CHANNEL = "jobs"

/** A job is deleted when its delivery is done. The table stays small, and is cleaned often. */
const JOBS = `
create table jobs (
  delivery_id uuid not null, endpoint_id uuid not null, event_id uuid not null, number integer not null,
  due_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
create index on jobs (due_at);`

/** One statement, so one transaction and one round trip. */
const PUBLISH_AND_QUEUE = `${PUBLISH}, jobs as (
  insert into jobs (delivery_id, endpoint_id, event_id, number, due_at) select id, endpoint_id, $1, 1, now() from queued
)
select pg_notify('${CHANNEL}', '')`

/** Publishes an event, and queues its deliveries. */
export const publisher = (pool: Pool): Publish => publishing(pool, PUBLISH_AND_QUEUE)

export const make = async (databaseUrl: string, urlOf: (index: number) => string): Promise<Side> => {
  const pool = new Pool({ connectionString: databaseUrl, max: 10 })
  await prepare(pool, urlOf)
  await pool.query(JOBS)
  return {
    name: "a queue with SKIP LOCKED, by hand",
    databaseUrl,
    publish: publisher(pool),
    startWorker: () => Worker.start("baselines/SkipLockedProcess.ts", { DATABASE_URL: databaseUrl }),
    close: () => pool.end(),
  }
}
