/**
 * Which API keys were rolled: a key is rolled once. Spend alerts that block are checked, because their period may have ended
 * early.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0061: Migration = {
  id: 61,
  name: "rolled_api_keys_and_blocks_that_are_over",
  minReader: 56,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.api_keys add column rolled_at timestamptz(3) check (isfinite(rolled_at))`,
    `comment on column ${schema}.api_keys.rolled_at is
  'When a key that was rolled was to end. Null: it was not rolled, or by a release before this column.'`,
    `insert into ${schema}.spend_marks (account_id, mode, customer_id, id)
select account_id, mode, customer_id, gen_random_uuid()
from ${schema}.spend_alerts where blocked_until > now() group by account_id, mode, customer_id`,
  ],
}
