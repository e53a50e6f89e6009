/**
 * Finds the subjects of billing runs that failed.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0053: Migration = {
  id: 53,
  name: "failed_billing_runs",
  minReader: 52,
  statements: (schema: SchemaName) => [
    `create index billing_due_failed on ${schema}.billing_due (account_id, mode, kind, id) where attempts > 0`,
  ],
}
