/**
 * No customer is on a test clock that there is not.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * What was left of deleted test clocks is put into real time first. The indexes of test clocks find it, so the tables are
 * not read.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

/** Test clocks that were deleted, of the rows of a table. */
const ended = (schema: SchemaName, row: string): string =>
  `${row}.test_clock_id is not null and not exists (
  select from ${schema}.test_clocks c
  where c.account_id = ${row}.account_id and c.mode = ${row}.mode and c.id = ${row}.test_clock_id
)`

export const migration0016: Migration = {
  id: 16,
  name: "customers_of_test_clocks",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `update ${schema}.customers as t set test_clock_id = null where ${ended(schema, "t")}`,
    `update ${schema}.billing_due as d set test_clock_id = null, due_at = least(d.due_at, now()),
  retry_at = case when d.retry_at is not null then least(d.retry_at, now()) end
where ${ended(schema, "d")}`,
    `alter table ${schema}.customers add constraint customers_of_test_clock
  foreign key (account_id, mode, test_clock_id) references ${schema}.test_clocks (account_id, mode, id) not valid`,
    `alter table ${schema}.customers validate constraint customers_of_test_clock`,
  ],
}
