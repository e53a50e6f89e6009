/**
 * Removes old records of the audit log: the only way to do it.
 */
import { define } from "./SqlFunction.ts"

/** Youngest records that can be removed, in days. The trigger of the table has the same number. */
const MIN_AGE_DAYS = 90
/** Most records that one call removes. */
const MAX_PRUNED = 100_000

/**
 * Removes the oldest records before an instant, of all tenants, and says how many: call it until that is 0. The caller needs the
 * right to delete, which the role of the application doesn't have.
 */
export const pruneAuditLog = define(
  "prune_audit_log",
  (
    schema,
  ) => `(p_before timestamptz, p_limit integer default 10000) returns bigint language plpgsql volatile as $$
declare
  v_before text := current_setting('billwright.prunes_audit_log', true);
  v_count bigint;
begin
  if p_before is null or p_before > now() - interval '${MIN_AGE_DAYS} days' then
    raise exception 'before must be at least ${MIN_AGE_DAYS} days ago' using errcode = 'invalid_parameter_value';
  end if;
  if p_limit is null or p_limit < 1 or p_limit > ${MAX_PRUNED} then
    raise exception 'limit must be an integer from 1 to ${MAX_PRUNED}' using errcode = 'invalid_parameter_value';
  end if;
  perform set_config('billwright.prunes_audit_log', 'on', true);
  delete from ${schema}.audit_records r using (
    select o.account_id, o.mode, o.id from ${schema}.audit_records o where o.created_at < p_before
    limit p_limit
  ) as old where r.account_id = old.account_id and r.mode = old.mode and r.id = old.id;
  get diagnostics v_count = row_count;
  perform set_config('billwright.prunes_audit_log', coalesce(v_before, ''), true);
  return v_count;
end
$$`,
)
