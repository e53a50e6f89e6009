/**
 * `publish_event_row` and `publish_event_rows` take the lease of the process that publishes, and give what they leased. Older
 * processes give no lease.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0058: Migration = {
  id: 58,
  name: "publications_with_leases",
  minReader: 56,
  statements: (schema: SchemaName) => [
    `drop function if exists ${schema}.publish_event_row(text, text, uuid, text, bigint, uuid, text, text, uuid)`,
    `drop function if exists ${schema}.publish_event_rows(text, text, uuid[], text[], bigint[], uuid[], text[])`,
  ],
}
