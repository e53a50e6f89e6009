/**
 * A description of a schema, read from the catalogue of a database.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Tables with columns, constraints and indexes, and functions with a digest of their source. */
export const introspect = (schema: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(describe(sql, schema)))

const describe = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: string) {
  // Names are written with their schema, unless it is on the search path. By default the schema named like the role
  // is.
  yield* sql`select set_config('search_path', 'pg_catalog', true)`
  const tables = yield* sql<{ name: string; options: string | null; comment: string | null }>`
select relname as name, array_to_string(reloptions, ', ') as options, obj_description(oid, 'pg_class') as comment
from pg_class where relnamespace = ${schema}::regnamespace and relkind in ('r', 'p', 'v', 'S') order by relname collate "C"`
  const columns = yield* sql<{ table: string; name: string; type: string }>`
select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod)
  || case when a.attcollation <> 0 and a.attcollation <> t.typcollation then ' collate "' || l.collname || '"' else '' end
  || case when a.attnotnull then ' not null' else '' end
  || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as type
from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
left join pg_collation l on l.oid = a.attcollation
where c.relnamespace = ${schema}::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
order by c.relname collate "C", a.attnum`
  // Postgres 18 lists NOT NULL as constraints. The columns already say so, on every version.
  const constraints = yield* sql<{ table: string; name: string; definition: string }>`
select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
from pg_constraint k join pg_class c on c.oid = k.conrelid
where k.connamespace = ${schema}::regnamespace and k.contype <> 'n' order by c.relname collate "C", k.conname collate "C"`
  const indexes = yield* sql<{ table: string; definition: string }>`
select tablename as table, indexdef as definition from pg_indexes where schemaname = ${schema}
order by tablename collate "C", indexname collate "C"`
  const functions = yield* sql<{
    name: string
    result: string
    path: string | null
    digest: string
  }>`
select oid::regprocedure::text as name, pg_get_function_result(oid) as result,
  (select substr(setting, 13) from unnest(proconfig) as setting where setting like 'search_path=%') as path,
  md5(prosrc) as digest
from pg_proc where pronamespace = ${schema}::regnamespace order by oid::regprocedure::text collate "C"`
  const of = <A extends { readonly table: string }>(rows: ReadonlyArray<A>, table: string) =>
    rows.filter((row) => row.table === table).map(({ table: _table, ...rest }) => rest)
  return {
    tables: tables.map(({ name, options, comment }) => ({
      name,
      ...(options === null ? {} : { options }),
      ...(comment === null ? {} : { comment }),
      columns: of(columns, name),
      constraints: of(constraints, name),
      indexes: of(indexes, name).map(({ definition }) => definition),
    })),
    functions,
  }
})
