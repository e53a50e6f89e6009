/**
 * What the lines of an invoice were taxed by.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * Invoices that are there have none. They were not taxed.
 */
import type { SchemaName } from "../SchemaName.ts"
import { refuseChangeOfInvoice } from "./BillingRules.ts"
import type { Migration } from "./Migration.ts"

export const migration0009: Migration = {
  id: 9,
  name: "invoices_taxed",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.billing_invoices add column taxed_by jsonb`,
    `alter table ${schema}.billing_invoices
  add constraint billing_invoices_taxed_by_check check (jsonb_typeof(taxed_by) = 'object') not valid`,
    refuseChangeOfInvoice(schema, "create or replace function", ["subscription_id", "cause", "taxed_by"]),
  ],
}
