/**
 * The journal takes a void invoice back where it was written off to, whatever its two instants say: they may be the same, and
 * clocks of servers differ. Before, what was due stayed in `bad_debt` and `receivable` then.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"
import { migration0049 } from "./Migration0049.ts"

const BY_INSTANT = "case when i.voided_at > i.written_off_at then 'bad_debt' else 'receivable' end"
const BY_STATUS = "case when i.written_off_at is null then 'receivable' else 'bad_debt' end"

/** The view of migration 49, which is frozen too, with another account of what is due of a void invoice. */
const schedule = (schema: SchemaName): ReadonlyArray<string> => {
  const view = `view ${schema}.journal_schedule as`
  return migration0049
    .statements(schema)
    .filter((text) => text.startsWith(`create ${view}`))
    .map((text) => text.replace(`create ${view}`, `create or replace ${view}`).replace(BY_INSTANT, BY_STATUS))
}

export const migration0063: Migration = {
  id: 63,
  name: "void_after_written_off",
  minReader: 56,
  statements: schedule,
}
