/**
 * Indexes for the overview of money: what was issued and paid lately.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0045: Migration = {
  id: 45,
  name: "overview of money",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create index billing_invoices_issued on ${schema}.billing_invoices (account_id, mode, issued_at)
  where issued_at is not null`,
    `create index billing_payments_paid on ${schema}.billing_payments (account_id, mode, paid_at)
  where status = 'succeeded'`,
    `create index billing_payments_attention on ${schema}.billing_payments (account_id, mode, id)
  where collection -> 'attention' is not null`,
  ],
}
