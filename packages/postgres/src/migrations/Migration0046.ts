/**
 * Where the requests of an API key may come from, and how much it may grant.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0046: Migration = {
  id: 46,
  name: "api_key_limits",
  // A process of an older release ignores both, as the release notes say.
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.api_keys
  add column networks text[] not null default '{}' check (cardinality(networks) <= 100),
  add column credit_limits jsonb not null default '{}' check (jsonb_typeof(credit_limits) = 'object')`,
    `comment on column ${schema}.api_keys.networks is
  'Where requests may come from. Empty: from everywhere.'`,
    `comment on column ${schema}.api_keys.credit_limits is
  'How much the key may grant of each unit: integers as text.'`,
  ],
}
