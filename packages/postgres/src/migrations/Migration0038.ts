/**
 * Events of payment providers by when they were received, so that old ones are forgotten.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0038: Migration = {
  id: 38,
  name: "provider_events_by_time",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create index billing_provider_events_by_time
  on ${schema}.billing_provider_events (account_id, mode, received_at)`,
  ],
}
