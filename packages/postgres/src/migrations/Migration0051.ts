/**
 * Which events were redacted because their customer was erased, and the erasures in the queue of billing runs.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SCHEDULED = "'auto_top_up', 'erasure', 'payment_method', 'plan_migration', 'refund', 'test_clock'"

export const migration0051: Migration = {
  id: 51,
  name: "redacted_events",
  // A process of an older release erases customers as it always did: their events stay.
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.events add column redacted_at timestamptz(3) check (isfinite(redacted_at))`,
    `comment on column ${schema}.events.redacted_at is
  'When personal data was taken out of the payload, because the customer was erased.'`,
    `comment on column ${schema}.events.payload is
  'What is sent, to the byte. It changes only when its customer is erased.'`,
    `alter table ${schema}.billing_due drop constraint billing_due_kind, drop constraint billing_due_customer,
  add constraint billing_due_kind check (kind in ('invoice', 'payment', 'subscription', ${SCHEDULED})),
  add constraint billing_due_customer check ((kind in (${SCHEDULED})) = (customer_id is null))`,
  ],
}
