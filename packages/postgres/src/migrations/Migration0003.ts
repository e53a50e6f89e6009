/**
 * Dimensions of usage records.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * Records without dimensions have NULL, so that neither the new column nor these records take any room: the table is not
 * rewritten. The check is `not valid` because a valid one would read the whole table while nobody can use it. New rows
 * are checked all the same, and all others have NULL.
 *
 * The two functions get another argument at the end, with a default. Dropped here and written again by this release,
 * they replace those of older releases, whose calls are still accepted.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0003: Migration = {
  id: 3,
  name: "dimensions",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.usage_records add column dimensions jsonb`,
    `alter table ${schema}.usage_records
  add constraint usage_records_dimensions_check check (jsonb_typeof(dimensions) = 'object') not valid`,
    `comment on column ${schema}.usage_records.dimensions is 'A flat object of text. NULL when there are none.'`,
    `drop function if exists ${schema}.append_usage(text, text, uuid[], uuid[], text[], text[], bigint[], bigint[],
  boolean[], text[], bigint[])`,
    `drop function if exists ${schema}.record_usage(text, text, text, text, numeric, text, timestamptz, text)`,
  ],
}
