/** Functions as another release has written them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Changes two functions, as if another release had written them. */
export const disturb = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create or replace function billwright.offset_id(p_id uuid, p_distance bigint) returns uuid
language sql immutable strict as 'select p_id'`
  yield* sql`create or replace function billwright.void_usage(p_account_id text, p_mode text, p_id uuid, p_at bigint)
returns setof jsonb language plpgsql as 'begin return; end'`
  yield* sql`update billwright.schema_functions set digest = 'other' where name in ('offset_id', 'void_usage')`
})

/** The functions that `disturb` changes. */
export const DISTURBED = ["offset_id", "void_usage"]

/** Says that another release wrote the functions. */
export const ofRelease = (release: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update billwright.schema_functions set release = ${release}`,
  )
