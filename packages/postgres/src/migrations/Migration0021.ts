/**
 * Advances of test clocks are in the queue of billing runs.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0021: Migration = {
  id: 21,
  name: "advances_of_test_clocks",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.billing_due drop constraint billing_due_kind,
  add constraint billing_due_kind check (kind in ('invoice', 'payment', 'plan_migration', 'subscription', 'test_clock')),
  drop constraint billing_due_customer,
  add constraint billing_due_customer check ((kind in ('plan_migration', 'test_clock')) = (customer_id is null))`,
    `insert into ${schema}.billing_due (account_id, mode, kind, id, due_at)
select c.account_id, c.mode, 'test_clock', c.id, now() from ${schema}.test_clocks c where c.status = 'advancing'`,
  ],
}
