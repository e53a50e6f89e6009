/**
 * What subscriptions and invoices of a customer go by: its time zone, currency, taxes and address.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * No column rewrites the table: a default that is a constant is kept in the catalog. The checks are `not valid`, because
 * rows that are there have none of these values. New rows are checked all the same.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const text = (name: string, rule: string): readonly [string, string, string] => [
  name,
  'text collate "C"',
  rule,
]

const COLUMNS = [
  text("timezone", "char_length(timezone) between 1 and 64"),
  text("locale", "locale ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' and char_length(locale) <= 35"),
  text("currency", "currency ~ '^[A-Z]{3}$'"),
  text("country", "country ~ '^[A-Z]{2}$'"),
  ["tax_id", "text", "char_length(tax_id) between 1 and 50"],
  [
    "tax_status",
    `text collate "C" default 'taxable'`,
    "tax_status in ('taxable', 'exempt', 'reverse_charge')",
  ],
  ["address", "jsonb", "jsonb_typeof(address) = 'object'"],
  ["net_days", "jsonb", "jsonb_typeof(net_days) = 'number' and net_days between '0' and '365'"],
] as const

const BILLED = COLUMNS.map(([name]) => name).filter((name) => name !== "tax_status")

export const migration0006: Migration = {
  id: 6,
  name: "customers_billed",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.customers
  ${COLUMNS.map(([name, type]) => `add column ${name} ${type}`).join(",\n  ")}`,
    `alter table ${schema}.customers
  ${COLUMNS.map(([name, , rule]) => `add constraint customers_${name}_check check (${rule}) not valid`).join(",\n  ")},
  add constraint customers_billed check (
    case when erased_at is null then tax_status is not null
    else ${BILLED.map((name) => `${name} is null`).join(" and ")} end
  ) not valid`,
  ],
}
