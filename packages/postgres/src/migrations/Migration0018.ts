/**
 * Payments that a provider takes.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0018: Migration = {
  id: 18,
  name: "collected_payments",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.billing_payments add column collection jsonb check (jsonb_typeof(collection) = 'object')`,
    `comment on column ${schema}.billing_payments.collection is
  'How a provider collects it. Null for a payment that a person recorded.'`,
    `alter table ${schema}.billing_due drop constraint billing_due_kind,
  add constraint billing_due_kind check (kind in ('invoice', 'payment', 'plan_migration', 'subscription'))`,
  ],
}
