/**
 * `take_credits`: consumes credits where nothing else is to be done. docs/decisions has why the rest is not here.
 */
import { instantOf } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { define } from "./SqlFunction.ts"

const isOwn = (alias: string): string =>
  `${alias}.account_id = p_account_id and ${alias}.mode = p_mode and ${alias}.customer_id = p_customer_id
      and ${alias}.unit = p_unit`

/** Whether something of an account is due by the clock, or about to be. */
const isDue = (schema: SchemaName): string => `exists (
    select from ${schema}.billing_credit_holds h where ${isOwn("h")} and h.status = 'open' and h.expires_at <= v_now
  ) or exists (
    select from ${schema}.billing_credit_grants g where ${isOwn("g")}
      and (g.status = 'pending' or g.available > 0 or g.held > 0)
      and (g.status = 'pending' and g.effective_at <= v_now or g.status in ('pending', 'active') and g.expires_at <= v_now)
  )`

/**
 * Gives what the account has after it, or null where there is more to do: nothing is changed then. Its statements come one
 * after another, because the first one may wait for other callers, and the next ones see what those have committed.
 */
export const takeCredits = define(
  "take_credits",
  (schema) => `(
  p_account_id text, p_mode text, p_customer_id uuid, p_unit text, p_id uuid, p_first_entry_id uuid, p_amount numeric,
  p_idempotency_key text, p_now bigint
) returns jsonb language plpgsql as $$
declare
  v_now timestamptz(3) := ${instantOf("p_now")};
  v_account record;
  v_count bigint;
begin
  select a.available, a.held, a.debt, a.sequence into v_account
  from ${schema}.billing_credit_accounts a where ${isOwn("a")} for no key update;
  -- The last credits are used with an event.
  if not found or v_account.available <= p_amount then
    return null;
  end if;
  if p_idempotency_key is not null and exists (
    select from ${schema}.billing_credit_consumptions c where ${isOwn("c")} and c.idempotency_key = p_idempotency_key
  ) then
    return null;
  end if;
  if ${isDue(schema)} then
    return null;
  end if;

  insert into ${schema}.billing_credit_consumptions
    (account_id, mode, customer_id, unit, id, amount, available, held, debt, idempotency_key, created_at)
  values (p_account_id, p_mode, p_customer_id, p_unit, p_id, p_amount, v_account.available - p_amount, v_account.held,
    v_account.debt, p_idempotency_key, v_now);
  with live as (
    select g.id, g.available, sum(g.available) over (order by g.priority, g.expires_at, g.created_at, g.id) as upto
    from ${schema}.billing_credit_grants g where ${isOwn("g")} and g.available > 0
  ), parts as (
    select l.id, least(l.available, p_amount - (l.upto - l.available)) as amount, row_number() over (order by l.upto) as place
    from live l where l.upto - l.available < p_amount
  ), taken as (
    update ${schema}.billing_credit_grants g set available = g.available - p.amount
    from parts p where ${isOwn("g")} and g.id = p.id
  )
  insert into ${schema}.billing_credit_entries
    (account_id, mode, customer_id, unit, sequence, id, kind, grant_id, consumption_id, available, held, debt, at)
  select p_account_id, p_mode, p_customer_id, p_unit, v_account.sequence + p.place,
    ${schema}.offset_id(p_first_entry_id, p.place - 1), 'consume', p.id, p_id, -p.amount, 0, 0, v_now
  from parts p;
  get diagnostics v_count = row_count;
  update ${schema}.billing_credit_accounts a
  set available = v_account.available - p_amount, sequence = v_account.sequence + v_count
  where ${isOwn("a")};
  return jsonb_build_object('available', (v_account.available - p_amount)::text, 'held', v_account.held::text,
    'debt', v_account.debt::text, 'xid', pg_current_xact_id_if_assigned()::text);
end
$$`,
  { isByIndex: true },
)
