/**
 * Workers that send webhooks, so that others notice when one of them has died. And when a transaction has last asked
 * for a notification.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0050: Migration = {
  id: 50,
  name: "workers_and_notices",
  // A process of an older release isn't in the table. Its leases end when they end.
  minReader: 1,
  // A crash of Postgres ends all sessions, so the rows are worth nothing after it. So neither is logged.
  statements: (schema: SchemaName) => [
    `create unlogged table ${schema}.webhook_workers (
  worker text collate "C" primary key check (worker ~ '^[0-9a-f]{8}$'),
  missed_at timestamptz
)`,
    `comment on table ${schema}.webhook_workers is
  'Workers whose session holds an advisory lock while they live.'`,
    `comment on column ${schema}.webhook_workers.worker is 'The first 8 characters of the tokens of its leases.'`,
    `comment on column ${schema}.webhook_workers.missed_at is
  'When another worker first found that nobody holds the lock.'`,

    `create unlogged sequence ${schema}.commit_notices`,
    `comment on sequence ${schema}.commit_notices is
  'When a transaction has last asked for a notification. It has no transactions, so that nobody waits.'`,
  ],
}
