/**
 * Invoices with discounts, found by subscription and period.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * What a coupon may take off an invoice depends on what it took off before. Most coupons apply to a few periods, and
 * subscriptions have many invoices without a discount.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0032: Migration = {
  id: 32,
  name: "discounted_invoices",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create index billing_invoices_discounted on ${schema}.billing_invoices (account_id, mode, subscription_id, cause_period)
  where state -> 'discounts' <> '[]'::jsonb`,
  ],
}
