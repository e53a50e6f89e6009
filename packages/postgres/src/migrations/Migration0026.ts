/**
 * The queue of billing runs by customer: what is due of one customer is billed in its order.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0026: Migration = {
  id: 26,
  name: "billing_runs_by_customer",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create index billing_due_customer_order on ${schema}.billing_due (account_id, mode, customer_id, due_at, kind, id)
  where kind in ('invoice', 'subscription') and (attempts = 0 or retry_at is not null)`,
  ],
}
