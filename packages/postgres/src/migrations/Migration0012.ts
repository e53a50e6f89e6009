/**
 * Whose subscriptions and invoices are.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * A subscription is one of a customer of its tenant, and an invoice is one of a subscription of its customer. The keys
 * have account, mode and customer, so nothing crosses them, also in plain SQL.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0012: Migration = {
  id: 12,
  name: "billing_owners",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.billing_subscriptions add constraint billing_subscriptions_customer
  foreign key (account_id, mode, customer_id) references ${schema}.customers (account_id, mode, id)`,
    `alter table ${schema}.billing_invoices add constraint billing_invoices_subscription
  foreign key (account_id, mode, customer_id, subscription_id) references ${schema}.billing_subscriptions`,
  ],
}
