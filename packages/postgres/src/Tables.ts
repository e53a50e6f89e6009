/**
 * The tables and functions of a schema as fragments of SQL.
 */
import { Statement } from "effect/sql"
import type { SchemaName } from "./SchemaName.ts"

const NAMES = [
  "api_keys",
  "auto_top_ups",
  "billing_credit_accounts",
  "billing_credit_consumptions",
  "billing_credit_entries",
  "billing_credit_grants",
  "billing_credit_holds",
  "billing_credit_note_lines",
  "billing_credit_notes",
  "billing_due",
  "billing_entitlement_consumptions",
  "billing_entitlement_limits",
  "billing_entitlement_locks",
  "billing_invoice_causes",
  "billing_invoice_lines",
  "billing_invoices",
  "billing_payments",
  "billing_provider_events",
  "billing_periods",
  "billing_series",
  "billing_subscriptions",
  "book_checks",
  "build_cells",
  "coupons",
  "customers",
  "disputes",
  "events",
  "hold_credits",
  "idempotency_keys",
  "measure_usage",
  "meter_cells",
  "meter_rollups",
  "meters",
  "payment_methods",
  "plan_migrations",
  "plan_versions",
  "plans",
  "redact_events",
  "redemptions",
  "refunds",
  "settle_holds",
  "spend_marks",
  "sweep_cells",
  "take_credits",
  "test_clocks",
  "usage_daily",
  "usage_records",
  "void_usage",
  "webhook_attempts",
  "webhook_deliveries",
  "webhook_earlier_attempts",
  "webhook_endpoints",
  "webhook_finished",
  "webhook_hourly",
  "webhook_pending",
] as const

/** Names qualified by the schema, for use in statements: `from ${tables.customers}`. */
export type Tables = { readonly [Name in (typeof NAMES)[number]]: Statement.Fragment }

export const make = (schema: SchemaName): Tables =>
  Object.fromEntries(
    NAMES.map((name) => [name, Statement.fragment([Statement.literal(`"${schema}".${name}`)])]),
  ) as Tables
