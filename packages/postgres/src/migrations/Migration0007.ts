/**
 * A test event remembers the endpoint that it was made for, and no replay sends it to another.
 *
 * No foreign key refers to the endpoint, as with deliveries: it may be deleted, and its events stay. Events of before
 * say nothing: what was a test then is an event for all that want it.
 *
 * The functions are those of migration 5, which look at the tables when they run: databases of before have older ones.
 */
import type { SchemaName } from "../SchemaName.ts"
import { replayDeliveries } from "./DeliveryFunctions.ts"
import type { Migration } from "./Migration.ts"
import { publishEventRow } from "./PublishFunctions.ts"
import { FIXED_PATH } from "./SearchPath.ts"

const millis = (expression: string): string => `(extract(epoch from ${expression}) * 1000)::bigint::text`

const eventJson = (
  schema: SchemaName,
): string => `create or replace function ${schema}.event_json(e ${schema}.events)
returns jsonb language sql stable ${FIXED_PATH} as $$
  select jsonb_build_object('id', e.id, 'type', e.type, 'occurred_at', ${millis("e.occurred_at")},
    'customer_id', e.customer_id, 'idempotency_key', e.idempotency_key, 'endpoint_id', e.endpoint_id,
    'payload', e.payload)
$$`

export const migration0007: Migration = {
  id: 7,
  name: "events_of_endpoints",
  minReader: 2,
  statements: (schema) => [
    `alter table ${schema}.events add column endpoint_id uuid`,
    `comment on column ${schema}.events.endpoint_id is
  'The endpoint that it was made for: a test event, which goes nowhere else. Null: it is for all that want it.'`,
    eventJson(schema),
    publishEventRow(schema),
    replayDeliveries(schema),
  ],
}
