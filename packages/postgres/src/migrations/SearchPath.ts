/**
 * Where functions look for names that have no schema: among those of Postgres, and nowhere else. Otherwise whoever may
 * create an operator or a function in a schema of the caller's path could have them called with the caller's rights.
 */
import type { SchemaName } from "../SchemaName.ts"

/** Stands in the definition of every function. Temporary objects come last: where they aren't named, they come first. */
export const FIXED_PATH = "set search_path = pg_catalog, pg_temp"

/** The same for all functions that are there. */
export const fixPaths = (schema: SchemaName): string => `do $$
declare
  v_function regprocedure;
begin
  for v_function in select p.oid::regprocedure from pg_catalog.pg_proc p where p.pronamespace = '${schema}'::regnamespace
  loop
    execute format('alter function %s ${FIXED_PATH}', v_function);
  end loop;
end
$$`
