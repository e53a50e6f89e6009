/**
 * Plans and their versions.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * A version is never changed or removed, not even by a statement of somebody who owns the tables: a trigger refuses that.
 * Prices that somebody has agreed to are what an invoice is checked by.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const accountAndMode = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test'))`

export const migration0002: Migration = {
  id: 2,
  name: "plans",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.plans (
  ${accountAndMode},
  id uuid not null,
  key text collate "C" not null check (key ~ '^[a-z][a-z0-9_]{0,63}$'),
  name text not null check (char_length(name) between 1 and 200),
  description text check (char_length(description) between 1 and 1000),
  version integer not null check (version >= 1),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  updated_at timestamptz(3) not null check (isfinite(updated_at)),
  primary key (account_id, mode, id),
  constraint plans_key unique (account_id, mode, key)
)`,
    `comment on column ${schema}.plans.version is 'The number of the newest version.'`,
    `create table ${schema}.plan_versions (
  ${accountAndMode},
  id uuid not null,
  plan_id uuid not null,
  version integer not null check (version >= 1),
  hash text collate "C" not null check (hash ~ '^[0-9a-f]{64}$'),
  terms jsonb not null check (jsonb_typeof(terms) = 'object'),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, plan_id, version),
  constraint plan_versions_id unique (account_id, mode, id),
  constraint plan_versions_plan foreign key (account_id, mode, plan_id) references ${schema}.plans
)`,
    `comment on column ${schema}.plan_versions.hash is 'SHA-256 of the terms in canonical JSON (RFC 8785).'`,
    // The trigger needs the function, so the function is as frozen as the table.
    `create function ${schema}.refuse_change_of_version() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'a published version of a plan can''t be changed or removed: push the plan with other terms, which makes a new version'
    using errcode = 'restrict_violation';
end
$$`,
    `create trigger plan_versions_are_final before update or delete or truncate on ${schema}.plan_versions
for each statement execute function ${schema}.refuse_change_of_version()`,
  ],
}
