/**
 * A function in the database, as this release has it.
 */
import type { SchemaName } from "../SchemaName.ts"

export interface SqlFunction {
  readonly name: string
  /** The statements that create it or replace it, one command each, without trailing semicolons. */
  readonly statements: (schema: SchemaName) => ReadonlyArray<string>
}

/**
 * Where functions look for names that have no schema: among those of Postgres, and nowhere else. Otherwise whoever may
 * create an operator or a function in a schema of the caller's path could have them called with the caller's rights.
 * Temporary objects come last: where they aren't named, they come first.
 */
const FIXED_PATH = "set search_path = pg_catalog, pg_temp"

/**
 * Rows of the queue are found by their place, or by an index, whatever the planner knows: plans are made while the queue
 * is empty. One that reads all of it is slow once it is long. And as the plans are what they are, none is made anew for
 * each call, which takes as long as the call itself.
 */
const BY_INDEX =
  "set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan"

/**
 * By an index that has the rows in the order that is asked for. Postgres before 18 says of a sort that can't be avoided
 * that it costs more than anything, beside which it sees no difference between plans: there it is left alone.
 */
const withoutSorts = (schema: SchemaName, name: string): string => `do $$
begin
  if current_setting('server_version_num')::integer >= 180000 then
    alter function ${schema}.${name} set enable_sort = off set enable_incremental_sort = off;
  end if;
end
$$`

/**
 * Defines a function by what follows its name: arguments, result, language and text.
 *
 * Replacing a function keeps the rights to it, and can't change its arguments or result. A release that changes these
 * drops the function in a migration.
 */
export const define = (
  name: string,
  definition: (schema: SchemaName) => string,
  options: {
    /** Its plans use indexes alone: docs/decisions/0013. */
    readonly isByIndex?: boolean
    /** What it is, for those who list the functions of their database. */
    readonly comment?: string
  } = {},
): SqlFunction => ({
  name,
  statements: (schema) => [
    `create or replace function ${schema}.${name}${definition(schema)}
${options.isByIndex === true ? `${BY_INDEX} ` : ""}${FIXED_PATH}`,
    ...(options.isByIndex === true ? [withoutSorts(schema, name)] : []),
    ...(options.comment === undefined
      ? []
      : [`comment on function ${schema}.${name} is\n  '${options.comment}'`]),
  ],
})
