/**
 * The last attempt of a delivery is in the row of the finished delivery. Nearly all deliveries end at their first attempt, so
 * they no longer write a second row with its own index.
 *
 * The table `webhook_attempts` becomes `webhook_earlier_attempts`: it has all other attempts, and all of the deliveries that
 * finished before this migration. A view with the old name and the old columns shows all attempts.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0056: Migration = {
  id: 56,
  name: "last_attempts",
  // An older process can't prune: it would remove rows of the view.
  minReader: 56,
  statements: (schema: SchemaName) => [
    // Without checks: each would be read again in each statement that writes results.
    `alter table ${schema}.webhook_finished
  add column attempt_started_at timestamptz(3),
  add column attempt_duration_ms integer,
  add column attempt_request_headers json,
  add column attempt_response_status smallint,
  add column attempt_response_headers json,
  add column attempt_response_body text`,
    `comment on table ${schema}.webhook_finished is
  'Deliveries that are done, with their last attempt. Rows change only when an event is redacted.'`,
    `comment on column ${schema}.webhook_finished.attempt_started_at is
  'The last attempt. Its number is attempt_count and its error last_error. Null: there was none, or it is an earlier one.'`,
    `alter table ${schema}.webhook_attempts rename to webhook_earlier_attempts`,
    `alter index ${schema}.webhook_attempts_pkey rename to webhook_earlier_attempts_pkey`,
    `comment on table ${schema}.webhook_earlier_attempts is
  'Attempts that are not in the row of their finished delivery.'`,
    `create view ${schema}.webhook_attempts as
select account_id, mode, delivery_id, number, started_at, duration_ms, request_headers, response_status, response_headers,
  response_body, error
from ${schema}.webhook_earlier_attempts
union all
select account_id, mode, id, attempt_count, attempt_started_at, attempt_duration_ms, attempt_request_headers,
  attempt_response_status, attempt_response_headers, attempt_response_body, last_error
from ${schema}.webhook_finished
where attempt_started_at is not null`,
    `comment on view ${schema}.webhook_attempts is 'All attempts.'`,
  ],
}
