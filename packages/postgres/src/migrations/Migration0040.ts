/**
 * Whether the invoices of a customer are collected by themselves.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * The column does not rewrite the table: its default is kept in the catalog. The checks are `not valid`, because customers
 * who were erased before have the default.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0040: Migration = {
  id: 40,
  name: "customers_collection_method",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.customers
  add column collection_method text collate "C" default 'charge_automatically'`,
    `alter table ${schema}.customers
  add constraint customers_collection_method_check
    check (collection_method in ('charge_automatically', 'send_invoice')) not valid,
  add constraint customers_collected check (erased_at is not null or collection_method is not null) not valid`,
  ],
}
