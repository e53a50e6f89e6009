/**
 * API keys with more scopes: subscriptions and invoices have their own.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * Core limits the scopes of a key to those that exist. The limit here is only against a table that grows by mistake, so
 * that a new scope needs no migration.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0008: Migration = {
  id: 8,
  name: "scopes",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.api_keys drop constraint api_keys_scopes_check,
  add constraint api_keys_scopes_check check (cardinality(scopes) <= 100)`,
  ],
}
