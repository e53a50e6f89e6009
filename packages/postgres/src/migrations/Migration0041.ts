/**
 * Spend alerts that bill what was used so far.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0041: Migration = {
  id: 41,
  name: "threshold invoices",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.spend_alerts drop constraint spend_alerts_action_check,
  add constraint spend_alerts_action check (action in ('notify', 'block', 'invoice'))`,
  ],
}
