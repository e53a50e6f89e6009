/**
 * Checks of spend alerts are never set aside: customers whose check had failed too often are checked again.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0060: Migration = {
  id: 60,
  name: "spend_alerts_that_are_never_set_aside",
  minReader: 56,
  statements: (schema: SchemaName) => [
    `update ${schema}.spend_marks set due_at = '-infinity' where due_at = 'infinity'`,
  ],
}
