/**
 * The definition of a function in the database.
 */
import type { SchemaName } from "../SchemaName.ts"

export interface SqlFunction {
  readonly name: string
  /** The statements that create or replace it, one command each, without trailing semicolons. */
  readonly statements: (schema: SchemaName) => ReadonlyArray<string>
}

/**
 * The search path of functions: only the schema of Postgres itself. Otherwise anyone who may create an operator or a
 * function in a schema of the caller's path could get it called with the caller's rights. Temporary objects are named
 * last, because they come first when they are not named.
 */
const FIXED_PATH = "set search_path = pg_catalog, pg_temp"

/**
 * Makes the planner find rows of the queue by position or by index. Plans are made while the queue is empty, and a
 * plan that reads the whole table becomes slow when the queue is long. With these settings the generic plan is the
 * right one. So no call is planned anew, which would take as long as the call itself.
 */
const BY_INDEX =
  "set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan"

/**
 * Makes the planner use an index that has the rows in the requested order. Before Postgres 18 the setting stays
 * unchanged: there, an unavoidable sort costs so much in the planner's estimate that all plans look the same to it.
 */
const withoutSorts = (schema: SchemaName, name: string): string => `do $$
begin
  if current_setting('server_version_num')::integer >= 180000 then
    alter function ${schema}.${name} set enable_sort = off set enable_incremental_sort = off;
  end if;
end
$$`

/**
 * Defines a function by the text after its name: arguments, result, language and body.
 *
 * Replacing a function keeps its grants, but can't change its arguments or result. A release that changes these drops
 * the old function in a migration.
 */
export const define = (
  name: string,
  definition: (schema: SchemaName) => string,
  options: {
    /** Whether its plans use indexes only: see docs/decisions/0013. */
    readonly isByIndex?: boolean
    /** A description, for people who list the functions of their database. */
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
