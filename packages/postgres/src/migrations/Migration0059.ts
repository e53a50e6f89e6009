/**
 * Nothing is set aside but subscriptions and invoices: what else was, such as plan migrations and payment methods to forget,
 * is tried again.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0059: Migration = {
  id: 59,
  name: "work_that_is_never_set_aside",
  minReader: 56,
  statements: (schema: SchemaName) => [
    `update ${schema}.billing_due set retry_at = failed_at
where attempts > 0 and retry_at is null and kind not in ('invoice', 'subscription')`,
  ],
}
