/**
 * Row-level security by tenant: docs/decisions/0039.
 *
 * It guards against a statement that forgets to name its tenant. Whoever may run statements can also say that they are
 * about another tenant, so it does not guard against code of others in the process.
 */
import type { SchemaName } from "../SchemaName.ts"
import { roleNames } from "./RoleNames.ts"

/** The setting that says whose rows statements are about: `<account>/<mode>`, or `EVERY_TENANT`. */
export const TENANT = "billwright.tenant"

/** The setting of work on all tenants. No account has this name. */
export const EVERY_TENANT = "*"

const POLICY = "billwright_tenant"

/** A query of its own is computed once for each statement, and not for each row. */
const SAID = `(select current_setting('${TENANT}', true))`

/**
 * The owner sees everything: as it run migrations, the functions for SQL, which name the tenant of their arguments in each
 * statement, and the triggers that check at the end of a transaction. By then, the setting may name another tenant than when
 * the rows were written. A view reads with the rights of the owner, but `current_user` is whoever reads it.
 */
const isSeen = (
  schema: SchemaName,
): string => `current_user = '${roleNames(schema).owner}' or ${SAID} = '${EVERY_TENANT}'
  or account_id = split_part(${SAID}, '/', 1) and mode = split_part(${SAID}, '/', 2)`

/** Does something to each table with the columns of a tenant, except for those whose security is what it shall be. */
const onTables = (schema: SchemaName, isOn: boolean, statements: ReadonlyArray<string>): string => `do $$
declare
  v record;
begin
  for v in
    select c.oid::regclass as name from pg_catalog.pg_class c
    where c.relnamespace = (select oid from pg_catalog.pg_namespace where nspname = '${schema}') and c.relkind in ('r', 'p')
      and c.relrowsecurity <> ${isOn} and (select count(*) from pg_catalog.pg_attribute a
        where a.attrelid = c.oid and a.attname in ('account_id', 'mode') and not a.attisdropped) = 2
  loop
${statements.map((text) => `    execute pg_catalog.format($text$${text}$text$, v.name);`).join("\n")}
  end loop;
end
$$`

/**
 * The statement that turns it on for all tables that don't have it yet. It is forced on the owner, because views read with
 * its rights.
 */
export const onStatement = (schema: SchemaName): string =>
  onTables(schema, true, [
    `drop policy if exists ${POLICY} on %s`,
    `create policy ${POLICY} on %s using (${isSeen(schema)})`,
    "alter table %s enable row level security, force row level security",
  ])

/** The statement that turns it off. */
export const offStatement = (schema: SchemaName): string =>
  onTables(schema, false, [
    "alter table %s disable row level security, no force row level security",
    `drop policy if exists ${POLICY} on %s`,
  ])

/** Lets the current transaction see all tenants. */
export const everyTenant = `select set_config('${TENANT}', '${EVERY_TENANT}', true)`
