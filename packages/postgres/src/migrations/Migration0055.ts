/**
 * Cheaper deliveries. Postgres reads the text of each check of a table again in each statement that writes to it, which takes
 * some 7 microseconds for each. So values that are copied from checked rows, or that only functions of this library make, are
 * no longer checked again: of a delivery, those of its event and of its endpoint.
 *
 * And workers count in slots, so that they don't wait for each other's commits.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const DROPPED = {
  webhook_pending: [
    "account_id",
    "mode",
    "event_type",
    "created_at",
    "last_response_status",
    "last_error",
    "leased_at",
    "leased_until",
  ],
  webhook_finished: [
    "account_id",
    "mode",
    "event_type",
    "created_at",
    "attempt_count",
    "last_response_status",
    "last_error",
    "finished_at",
    "reason",
  ],
  webhook_attempts: ["account_id", "mode", "started_at", "error"],
  webhook_hourly: ["account_id", "mode", "hour"],
}

export const migration0055: Migration = {
  id: 55,
  name: "cheaper_deliveries",
  // An older process would call functions that are gone.
  minReader: 55,
  statements: (schema: SchemaName) => [
    ...Object.entries(DROPPED).map(
      ([table, columns]) =>
        `alter table ${schema}.${table} ${columns.map((column) => `drop constraint if exists ${table}_${column}_check`).join(", ")}`,
    ),
    `alter table ${schema}.webhook_hourly add column slot smallint not null default 0,
  drop constraint if exists webhook_hourly_pkey, add primary key (account_id, mode, hour, endpoint_id, slot)`,
    `comment on table ${schema}.webhook_hourly is
  'What happened to deliveries, counted by hour of UTC and endpoint. Each worker counts in a slot: add them up.'`,
    `drop function if exists ${schema}.settle_deliveries(text[], text[], uuid[], uuid[], uuid[], bigint[], text[], integer[],
  bigint[], text[], integer[], bigint[], integer[], text[], smallint[], text[], text[], text[], boolean)`,
    `drop function if exists ${schema}.claim_deliveries(bigint, bigint, uuid, integer, integer, uuid[], integer[], text[],
  text[], integer[], uuid, text, text, boolean)`,
  ],
}
