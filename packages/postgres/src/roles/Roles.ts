/**
 * The statements that make the roles of a schema, and give each exactly its rights.
 *
 * All of them may run again at any time. Roles belong to the whole server, so another database with a schema of the same
 * name shares them.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { SchemaName } from "../SchemaName.ts"
import {
  APP_FUNCTIONS,
  COLUMNS,
  DEFINERS,
  READER_FUNCTIONS,
  RECORDER_FUNCTIONS,
  SEQUENCES,
  TABLES,
} from "./Privileges.ts"
import { ROLE_KINDS, roleNames } from "./RoleNames.ts"

const block = (body: string): string => `do $$
${body}
end
$$`

/** Another database may make the same role at the same time: locks of transactions are those of one database. */
const creation = (role: string): string =>
  block(`begin
  if not exists (select from pg_catalog.pg_roles where rolname = '${role}') then
    create role ${role} nologin;
  end if;
exception when duplicate_object or unique_violation then null;`)

/** Whoever isn't a superuser has to be a member of the owner, to give it what they own. */
const membership = (owner: string): string =>
  block(`begin
  if not pg_catalog.pg_has_role(current_user, '${owner}', 'usage') then
    execute pg_catalog.format('grant ${owner} to %I', current_user);
  end if;`)

/**
 * Gives everything in some schemas to a role: what is another's, or only what is `from`'s. `schemas` is SQL that selects
 * their oids. What belongs to an extension stays with its owner. Indexes and sequences of columns follow their table.
 */
export const ownership = (schemas: string, owner: string, from?: string): string => {
  const isMoved = (column: string) =>
    from === undefined ? `${column} <> '${owner}'::regrole` : `${column} = '${from}'::regrole`
  return block(`declare
  v record;
begin
  for v in
    select n.nspname as name from pg_catalog.pg_namespace n
    where n.oid in (${schemas}) and ${isMoved("n.nspowner")} and n.nspname <> 'public'
  loop
    execute pg_catalog.format('alter schema %I owner to ${owner}', v.name);
  end loop;
  for v in
    select c.oid::regclass as name, case c.relkind when 'v' then 'view' when 'm' then 'materialized view'
      when 'S' then 'sequence' when 'f' then 'foreign table' when 'c' then 'type' else 'table' end as kind
    from pg_catalog.pg_class c
    where c.relnamespace in (${schemas}) and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c')
      and ${isMoved("c.relowner")}
      and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
        and (d.deptype = 'e' or c.relkind = 'S' and d.deptype in ('a', 'i')))
  loop
    execute pg_catalog.format('alter %s %s owner to ${owner}', v.kind, v.name);
  end loop;
  for v in
    select p.oid::regprocedure as name, case p.prokind when 'p' then 'procedure' when 'a' then 'aggregate'
      else 'function' end as kind
    from pg_catalog.pg_proc p
    where p.pronamespace in (${schemas}) and ${isMoved("p.proowner")}
      and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid
        and d.deptype = 'e')
  loop
    execute pg_catalog.format('alter %s %s owner to ${owner}', v.kind, v.name);
  end loop;
  for v in
    select t.oid::regtype as name from pg_catalog.pg_type t
    where t.typnamespace in (${schemas}) and t.typtype in ('d', 'e') and ${isMoved("t.typowner")}
      and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_type'::regclass and d.objid = t.oid
        and d.deptype = 'e')
  loop
    execute pg_catalog.format('alter type %s owner to ${owner}', v.name);
  end loop;`)
}

const oidOf = (schema: SchemaName): string =>
  `select oid from pg_catalog.pg_namespace where nspname = '${schema}'`

/** The statements that make the roles, and give the schema and all that is in it to the owner. */
export const makingStatements = (schema: SchemaName): ReadonlyArray<string> => {
  const names = roleNames(schema)
  return [
    ...ROLE_KINDS.map((kind) => creation(names[kind])),
    membership(names.owner),
    ownership(oidOf(schema), names.owner),
  ]
}

/** Tables and views with the same rights are one statement. */
const grantsOf = (
  schema: SchemaName,
  role: string,
  rightsOf: (name: string) => ReadonlyArray<string>,
): ReadonlyArray<string> =>
  [...Map.groupBy(Object.keys(TABLES), (name) => rightsOf(name).join(", "))].flatMap(([rights, names]) =>
    rights === ""
      ? []
      : [`grant ${rights} on ${names.map((name) => `${schema}.${name}`).join(", ")} to ${role}`],
  )

/** Functions are named without arguments. No two have the same name. */
const execution = (schema: SchemaName, names: ReadonlyArray<string>, role: string): string =>
  `grant execute on function ${names.map((name) => `${schema}.${name}`).join(", ")} to ${role}`

/**
 * Before Postgres 18, a deferred trigger runs with the rights of whoever commits, and so of the recorder. All other triggers
 * run inside of the statement that fires them.
 */
const deferredTriggers = (schema: SchemaName): string =>
  block(`declare
  v_function regprocedure;
begin
  for v_function in
    select distinct t.tgfoid::regprocedure from pg_catalog.pg_trigger t join pg_catalog.pg_class c on c.oid = t.tgrelid
    where c.relnamespace in (${oidOf(schema)}) and t.tginitdeferred and not t.tgisinternal
  loop
    execute pg_catalog.format('alter function %s security definer', v_function);
  end loop;`)

/** The statements that take every right in the schema from everybody but the owner, and then give each role its rights. */
export const grantStatements = (schema: SchemaName): ReadonlyArray<string> => {
  const { app, reader, recorder } = roleNames(schema)
  const all = `public, ${app}, ${reader}, ${recorder}`
  return [
    `revoke all on schema ${schema} from ${all}`,
    ...["tables", "sequences", "functions"].map(
      (kind) => `revoke all on all ${kind} in schema ${schema} from ${all}`,
    ),
    `grant usage on schema ${schema} to ${app}, ${reader}, ${recorder}`,
    ...grantsOf(schema, app, (name) => TABLES[name]!.app),
    ...Object.entries(COLUMNS).map(
      ([table, columns]) => `grant update (${columns.join(", ")}) on ${schema}.${table} to ${app}`,
    ),
    ...SEQUENCES.map((name) => `grant select, update on sequence ${schema}.${name} to ${app}`),
    ...grantsOf(schema, reader, (name) => TABLES[name]!.reader),
    execution(schema, APP_FUNCTIONS, app),
    execution(schema, READER_FUNCTIONS, reader),
    execution(schema, RECORDER_FUNCTIONS, recorder),
    ...DEFINERS.map((name) => `alter function ${schema}.${name} security definer`),
    deferredTriggers(schema),
  ]
}

/** The owner of a schema, if the schema has roles. Then everything new in it has to belong to that role, too. */
export const ownerOf = (
  sql: SqlClient.SqlClient,
  schema: SchemaName,
): Effect.Effect<string | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ owner: string }>`select pg_get_userbyid(nspowner)::text as owner from pg_namespace
where nspname = ${schema} and pg_get_userbyid(nspowner) = nspname || '_owner'`,
    ([row]) => row?.owner,
  )
