/**
 * Workers offer places to publications of other processes: see docs/decisions/0059. `publish_event_row` and
 * `publish_event_rows` take what they notify of their own commit. Older processes give none, and notify themselves.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const LEASE = "uuid, bigint, integer, uuid[]"

export const migration0062: Migration = {
  id: 62,
  name: "standing_offers",
  minReader: 56,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.webhook_workers
  add column offered_places integer not null default 0,
  add column lease_millis integer not null default 0,
  add column full_endpoints uuid[] not null default '{}'`,
    `comment on column ${schema}.webhook_workers.offered_places is
  'The most deliveries that a publication of another process may lease, while the worker holds the lock of its offer.'`,
    `comment on column ${schema}.webhook_workers.lease_millis is 'How long these leases are.'`,
    `comment on column ${schema}.webhook_workers.full_endpoints is 'Endpoints without room for such deliveries.'`,
    `drop function if exists ${schema}.publish_event_row(text, text, uuid, text, bigint, uuid, text, text, uuid, ${LEASE})`,
    `drop function if exists ${schema}.publish_event_rows(text, text, uuid[], text[], bigint[], uuid[], text[], ${LEASE})`,
  ],
}
