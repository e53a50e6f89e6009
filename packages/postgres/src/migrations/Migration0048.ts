/**
 * The audit log: who changed which object. Its rows are added and never changed. Only old ones can be removed, and only by the
 * function `prune_audit_log`.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0048: Migration = {
  id: 48,
  name: "audit log",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.audit_records (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  action text collate "C" not null check (action ~ '^[a-z][a-z_]*\\.(created|updated|deleted)$' and length(action) <= 96),
  object_id text collate "C" not null check (length(object_id) between 1 and 128),
  actor_type text collate "C" not null check (actor_type in ('host', 'key', 'operator', 'payer', 'provider', 'runner')),
  actor_id text collate "C" not null check (length(actor_id) between 1 and 128),
  actor_role text collate "C" check (length(actor_role) between 1 and 64),
  before jsonb check (jsonb_typeof(before) = 'object'),
  after jsonb check (jsonb_typeof(after) = 'object'),
  left_out jsonb not null check (jsonb_typeof(left_out) = 'array'),
  ip text collate "C" check (length(ip) between 1 and 45),
  user_agent text collate "C" check (length(user_agent) between 1 and 256),
  request_id text collate "C" check (length(request_id) between 1 and 64),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, id)
)`,
    `create index audit_records_object on ${schema}.audit_records (account_id, mode, object_id, id)`,
    `create index audit_records_actor on ${schema}.audit_records (account_id, mode, actor_id, id)`,
    `create index audit_records_action on ${schema}.audit_records (account_id, mode, action, id)`,
    `create function ${schema}.refuse_change_of_audit_log() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if current_setting('billwright.prunes_audit_log', true) = 'on' and old.created_at < now() - interval '90 days' then
      return old;
    end if;
  end if;
  raise exception 'the audit log can''t be changed: records are only added to it'
    using errcode = 'restrict_violation', table = 'audit_records', constraint = 'audit_records_are_final';
end
$$`,
    `create trigger audit_records_are_final before update or delete on ${schema}.audit_records
for each row execute function ${schema}.refuse_change_of_audit_log()`,
    `create trigger audit_records_stay before truncate on ${schema}.audit_records
for each statement execute function ${schema}.refuse_change_of_audit_log()`,
  ],
}
