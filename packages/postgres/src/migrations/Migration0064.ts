/**
 * Grants of paid credits in the queue of billing runs, which write when they begin and end. Those that were made before are put
 * there too, also those that have ended without anybody having written it, or of which a hold still keeps something.
 *
 * The checks are `not valid`, because they allow all rows that are there, and reading those would take as long as they are many.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SCHEDULED =
  "'api_key', 'auto_top_up', 'book_check', 'credit_grant', 'erasure', 'payment_method', 'plan_migration', 'refund', 'test_clock'"

export const migration0064: Migration = {
  id: 64,
  name: "grants_are_due",
  minReader: 56,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.billing_due drop constraint billing_due_kind, drop constraint billing_due_customer,
  add constraint billing_due_kind check (kind in ('invoice', 'payment', 'subscription', ${SCHEDULED})) not valid,
  add constraint billing_due_customer check ((kind in (${SCHEDULED})) = (customer_id is null)) not valid`,
    `insert into ${schema}.billing_due (account_id, mode, kind, id, due_at)
select g.account_id, g.mode, 'credit_grant', g.id,
  case g.status when 'pending' then g.effective_at when 'active' then g.expires_at else now() end
from ${schema}.billing_credit_grants g
where g.kind = 'paid' and (g.status = 'pending'
  or g.status = 'active' and g.expires_at is not null and (g.available > 0 or g.held > 0)
  or g.status in ('expired', 'voided') and g.held > 0)`,
  ],
}
