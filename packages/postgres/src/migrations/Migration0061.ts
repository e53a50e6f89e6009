/**
 * Which API keys were rolled: a key is rolled once.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0061: Migration = {
  id: 61,
  name: "rolled_api_keys",
  minReader: 56,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.api_keys add column rolled_at timestamptz(3) check (isfinite(rolled_at))`,
    `comment on column ${schema}.api_keys.rolled_at is
  'When a key that was rolled was to end. Null: it was not rolled, or by a release before this column.'`,
  ],
}
