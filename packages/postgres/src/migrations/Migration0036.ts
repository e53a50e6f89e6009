/**
 * Credits in fewer steps.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * - `check_credit_account` keeps its plan, and reads the new entries only. Making the plan took longer than the check, and the
 *   plan of a database without statistics read all entries of the customer.
 * - Whether something is left of a grant is a column of its own. The index of such grants then has no column that changes
 *   with each use, so a use leaves the indexes as they are.
 * - `take_credits` has other arguments.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

/** Only the primary key has the entries in this order, and there is no other plan without a sort. */
const checkAccount = (
  schema: SchemaName,
): string => `create or replace function ${schema}.check_credit_account()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off
set enable_sort = off set enable_incremental_sort = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  v_before bigint := 0;
  v_available numeric := 0;
  v_held numeric := 0;
  v_debt numeric := 0;
  v_is_sum boolean;
begin
  if tg_op = 'UPDATE' then
    v_before := old.sequence;
    v_available := old.available;
    v_held := old.held;
    v_debt := old.debt;
  end if;
  select count(*) = new.sequence - v_before
    and coalesce(sum(e.available), 0) = new.available - v_available
    and coalesce(sum(e.held), 0) = new.held - v_held
    and coalesce(sum(e.debt), 0) = new.debt - v_debt
  into v_is_sum
  from (
    select e.available, e.held, e.debt from ${schema}.billing_credit_entries e
    where e.account_id = new.account_id and e.mode = new.mode and e.customer_id = new.customer_id and e.unit = new.unit
      and e.sequence > v_before and e.sequence <= new.sequence
    order by e.sequence limit new.sequence - v_before
  ) as e;
  if not v_is_sum then
    raise exception 'a credit account does not change by what its entries say'
      using errcode = 'check_violation', table = 'billing_credit_accounts', constraint = 'billing_credit_accounts_sums';
  end if;
  return null;
end
$$`

export const migration0036: Migration = {
  id: 36,
  name: "credits_in_fewer_steps",
  minReader: 1,
  statements: (schema: SchemaName) => [
    checkAccount(schema),
    `alter table ${schema}.billing_credit_grants
  add column is_live boolean not null generated always as (status = 'pending' or available > 0 or held > 0) stored`,
    `drop index ${schema}.billing_credit_grants_live`,
    `create index billing_credit_grants_live on ${schema}.billing_credit_grants (account_id, mode, customer_id, unit, id)
  where is_live`,
    ...["accounts", "grants", "holds"].map(
      (name) => `alter table ${schema}.billing_credit_${name} set (fillfactor = 70)`,
    ),
    `drop function if exists ${schema}.take_credits(text, text, uuid, text, uuid, uuid, numeric, text, bigint)`,
  ],
}
