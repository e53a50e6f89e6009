/**
 * The rules of the engine's ledger for `consume_credits` and `commit_hold`, whose callers have no engine. docs/decisions has
 * the list of rules, with their tests.
 *
 * A step takes an account as it would be now and gives it as it is after the step. It writes entries, grants and holds at
 * once. The account is written at the end, because between two steps it may have both something available and a debt.
 *
 * Callers have locked the account, which is what all who change its grants and holds do first.
 */
import { millis } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { define } from "./SqlFunction.ts"

const BY_INDEX = { isByIndex: true }

const ofAccount = (alias: string): string =>
  `${alias}.account_id = v_account.account_id and ${alias}.mode = v_account.mode and ${alias}.customer_id = v_account.customer_id
    and ${alias}.unit = v_account.unit`

/** The arguments that all steps have: the account, and what the ids of new entries follow. */
const STEP = (schema: SchemaName): string => `p_account ${schema}.billing_credit_accounts, p_entry uuid`

/** The time of a customer, which is that of its test clock if it has one: `CustomerTime`. */
export const customerTime = define(
  "customer_time",
  (schema) => `(p_account_id text, p_mode text, p_customer_id uuid, p_now timestamptz)
returns timestamptz language plpgsql as $$
begin
  if p_mode = 'live' then return p_now; end if;
  return coalesce((
    select k.now from ${schema}.customers c
    join ${schema}.test_clocks k on k.account_id = c.account_id and k.mode = c.mode and k.id = c.test_clock_id
    where c.account_id = p_account_id and c.mode = p_mode and c.id = p_customer_id
  ), p_now);
end
$$`,
  BY_INDEX,
)

/** What the hold is for that an argument names. */
const purposeOf = (schema: SchemaName): string => `(
    select h.purpose from ${schema}.billing_credit_holds h where ${ofAccount("h")} and h.id = p_hold_id
  )`

/**
 * Writes an entry of credits that move, and moves those of the account. Moving nothing writes nothing. What is available of a
 * grant with a scope is no part of what the account has available.
 */
export const moveCredits = define(
  "move_credits",
  (schema) => `(
  ${STEP(schema)}, p_kind text, p_at timestamptz, p_grant_id uuid, p_hold_id uuid, p_consumption_id uuid,
  p_available numeric, p_held numeric, p_debt numeric
) returns ${schema}.billing_credit_accounts language plpgsql as $$
declare
  v_account ${schema}.billing_credit_accounts := p_account;
  v_is_scoped boolean;
begin
  if p_available = 0 and p_held = 0 and p_debt = 0 then return v_account; end if;
  v_is_scoped := exists (
    select from ${schema}.billing_credit_grants g
    where ${ofAccount("g")} and g.id = p_grant_id and g.scope is not null
  );
  v_account.sequence := v_account.sequence + 1;
  if v_is_scoped then
    v_account.scoped := v_account.scoped + p_available;
  else
    v_account.available := v_account.available + p_available;
  end if;
  v_account.held := v_account.held + p_held;
  v_account.debt := v_account.debt + p_debt;
  insert into ${schema}.billing_credit_entries (account_id, mode, customer_id, unit, sequence, id, kind, grant_id, hold_id,
    consumption_id, purpose, available, scoped, held, debt, at)
  values (v_account.account_id, v_account.mode, v_account.customer_id, v_account.unit, v_account.sequence, ${schema}.offset_id(p_entry, v_account.sequence), p_kind,
    p_grant_id, p_hold_id, p_consumption_id, ${purposeOf(schema)},
    case when v_is_scoped then 0 else p_available end, case when v_is_scoped then p_available else 0 end, p_held, p_debt, p_at);
  return v_account;
end
$$`,
  BY_INDEX,
)

/**
 * Takes an amount of what is available, from grants in the order of their use that pay for the purpose of the hold. With `repay`, that lowers the debt. With any other kind, what is
 * beyond becomes debt.
 */
export const spendCredits = define(
  "spend_credits",
  (schema) => `(
  ${STEP(schema)}, p_kind text, p_at timestamptz, p_hold_id uuid, p_consumption_id uuid, p_amount numeric
) returns ${schema}.billing_credit_accounts language plpgsql as $$
declare
  v_account ${schema}.billing_credit_accounts := p_account;
  v_rest numeric := p_amount;
  v_purpose text;
  v_grant record;
  v_part numeric;
begin
  if v_rest = 0 then return v_account; end if;
  v_purpose := ${purposeOf(schema)};
  for v_grant in
    select g.id, g.available from ${schema}.billing_credit_grants g
    where ${ofAccount("g")} and g.is_live and g.available > 0 and (g.scope is null or g.scope ? v_purpose)
    order by g.priority, g.expires_at, g.created_at, g.id
  loop
    v_part := least(v_rest, v_grant.available);
    v_rest := v_rest - v_part;
    update ${schema}.billing_credit_grants g set available = g.available - v_part
    where ${ofAccount("g")} and g.id = v_grant.id;
    v_account := ${schema}.move_credits(v_account, p_entry, p_kind, p_at, v_grant.id, p_hold_id, p_consumption_id, -v_part, 0,
      case p_kind when 'repay' then -v_part else 0 end);
    exit when v_rest = 0;
  end loop;
  if p_kind = 'repay' then return v_account; end if;
  return ${schema}.move_credits(v_account, p_entry, p_kind, p_at, null, p_hold_id, p_consumption_id, 0, 0, v_rest);
end
$$`,
  BY_INDEX,
)

/** Repays debt with what is available. */
const repay = (schema: SchemaName, at: string): string =>
  `v_account := ${schema}.spend_credits(v_account, p_entry, 'repay', ${at}, null, null, least(v_account.available, v_account.debt));`

/**
 * Uses an amount of what a hold keeps, and gives the rest back to its grants. What a grant that has ended gets back is gone at once, and so is
 * what is beyond the maximum of one that has rolled over.
 */
export const returnCredits = define(
  "return_credits",
  (schema) => `(
  ${STEP(schema)}, p_kind text, p_at timestamptz, p_hold_id uuid, p_slices jsonb, p_used numeric
) returns ${schema}.billing_credit_accounts language plpgsql as $$
declare
  v_account ${schema}.billing_credit_accounts := p_account;
  v_grant ${schema}.billing_credit_grants;
  v_rest numeric := p_used;
  v_slice record;
  v_part numeric;
  v_left numeric;
  v_gone numeric;
begin
  for v_slice in
    select (e.slice ->> 'grant_id')::uuid as grant_id, (e.slice ->> 'amount')::numeric as amount
    from jsonb_array_elements(p_slices) with ordinality as e (slice, number) order by e.number
  loop
    select q.* into v_grant from ${schema}.billing_credit_grants q where ${ofAccount("q")} and q.id = v_slice.grant_id;
    v_part := least(v_rest, v_slice.amount);
    v_rest := v_rest - v_part;
    v_left := v_slice.amount - v_part;
    v_gone := case
      when v_grant.status in ('expired', 'voided') then v_left
      when v_grant.rollover_expires_at = v_grant.expires_at
        then greatest(v_grant.available + v_left - greatest(v_grant.rollover_maximum - (v_grant.held - v_slice.amount), 0), 0)
      else 0 end;
    v_account := ${schema}.move_credits(v_account, p_entry, p_kind, p_at, v_grant.id, p_hold_id, null, 0, -v_part, 0);
    v_account := ${schema}.move_credits(v_account, p_entry, case p_kind when 'commit' then 'release' else p_kind end, p_at, v_grant.id,
      p_hold_id, null, v_left, -v_left, 0);
    v_account := ${schema}.move_credits(v_account, p_entry, case v_grant.status when 'voided' then 'void' else 'expire' end, p_at, v_grant.id,
      p_hold_id, null, -v_gone, 0, 0);
    update ${schema}.billing_credit_grants q set held = q.held - v_slice.amount, available = q.available + v_left - v_gone
    where ${ofAccount("q")} and q.id = v_grant.id;
  end loop;
  ${repay(schema, "p_at")}
  return v_account;
end
$$`,
  BY_INDEX,
)

/**
 * The open holds of an account that lapse by an instant. Only the index of open holds has them in this order. Any other one gives
 * all holds of the tenant (`hasExpiredHold`).
 */
export const lapses = (schema: SchemaName): string => `
    select h.expires_at as at, 'lapse' as step, h.id, h.slices, 0 as number
    from ${schema}.billing_credit_holds h where ${ofAccount("h")} and h.status = 'open' and h.expires_at <= p_now
    order by h.expires_at`

/** What happens to an account by an instant through time alone: of one instant, holds lapse first, and then grants begin and end. */
const STEPS = (schema: SchemaName): string => `
    select * from ((${lapses(schema)})
    union all
    select s.at, s.step, g.id, null, s.number
    from ${schema}.billing_credit_grants g cross join lateral (values
      (1, 'begin', case g.status when 'pending' then g.effective_at end),
      (2, 'roll over', case when g.status in ('pending', 'active') and g.rollover_expires_at <> g.expires_at then g.expires_at end),
      (3, 'end', case when g.status in ('pending', 'active') then coalesce(g.rollover_expires_at, g.expires_at) end)
    ) as s (number, step, at)
    where ${ofAccount("g")} and g.is_live and s.at <= p_now) as s
    order by s.at, s.number > 0, s.id, s.number`

/** Brings an account up to an instant: `upTo` of the engine. */
export const advanceCredits = define(
  "advance_credits",
  (schema) => `(${STEP(schema)}, p_now timestamptz)
returns ${schema}.billing_credit_accounts language plpgsql as $$
declare
  v_account ${schema}.billing_credit_accounts := p_account;
  v_grant ${schema}.billing_credit_grants;
  v_step record;
  v_gone numeric;
begin
  for v_step in${STEPS(schema)}
  loop
    if v_step.step = 'lapse' then
      update ${schema}.billing_credit_holds h set status = 'lapsed', settled_at = h.expires_at
      where ${ofAccount("h")} and h.id = v_step.id;
      v_account.open_holds := v_account.open_holds - 1;
      v_account := ${schema}.return_credits(v_account, p_entry, 'lapse', v_step.at, v_step.id, v_step.slices, 0);
      continue;
    end if;
    select q.* into v_grant from ${schema}.billing_credit_grants q where ${ofAccount("q")} and q.id = v_step.id;
    if v_step.step = 'begin' then
      update ${schema}.billing_credit_grants q set status = 'active', available = q.amount
      where ${ofAccount("q")} and q.id = v_grant.id;
      v_account := ${schema}.move_credits(v_account, p_entry, 'grant', v_step.at, v_grant.id, null, null, v_grant.amount, 0, 0);
      ${repay(schema, "v_step.at")}
      continue;
    end if;
    v_gone := case v_step.step when 'end' then v_grant.available
      else greatest(v_grant.available - greatest(v_grant.rollover_maximum - v_grant.held, 0), 0) end;
    update ${schema}.billing_credit_grants q set available = q.available - v_gone,
      status = case v_step.step when 'end' then 'expired' else q.status end,
      expires_at = coalesce(q.rollover_expires_at, q.expires_at)
    where ${ofAccount("q")} and q.id = v_grant.id;
    v_account := ${schema}.move_credits(v_account, p_entry, 'expire', v_step.at, v_grant.id, null, null, -v_gone, 0, 0);
  end loop;
  return v_account;
end
$$`,
  BY_INDEX,
)

/** The new entries of an account. Only the primary key has them in this order. Any other index gives all entries of the customer. */
export const newEntries = (schema: SchemaName): string => `
      select e.* from ${schema}.billing_credit_entries e where ${ofAccount("e")} and e.sequence > p_before.sequence
      order by e.sequence`

/**
 * CTEs of the new entries of an account, and of what was available before each instant of them and after it: `fallsBelow` of
 * the engine.
 */
const ENDS = (schema: SchemaName): string => `
    with entries as (${newEntries(schema)}
    ), instants as (
      select e.sequence, p_before.available + sum(e.available) over (order by e.sequence) as available,
        lead(e.at) over (order by e.sequence) is distinct from e.at as is_last
      from entries e
    ), ends as (
      select i.sequence, i.available,
        coalesce(lag(i.available) over (order by i.sequence), p_before.available) as at_start
      from instants i where i.is_last
    )`

/** The events of a change in the order of their sequence: those of its entries, that all is used, and the alerts whose levels it crosses. */
const EVENTS = (schema: SchemaName): string => `${ENDS(schema)}
    select 1 as part, null::uuid as id, e.sequence, case e.kind when 'grant' then 'credit.granted' else 'credit.expired' end as type,
      '"grant_id":"' || ${schema}.format_id('cgr', e.grant_id) || '","amount":' || abs(e.available + e.scoped)::text as more
    from entries e where e.kind in ('grant', 'expire')
    union all
    select 2, null, v_account.sequence, 'credit.exhausted', null
    where v_account.available = 0 and p_before.available > 0
      and exists (select from entries e where e.kind in ('consume', 'reserve', 'commit', 'apply'))
    union all
    select 3, l.id, e.sequence, 'credit.low',
      '"credit_alert_id":"' || ${schema}.format_id('cal', l.id) || '","level":' || l.level::text
    from ends e join ${schema}.credit_alerts l on e.at_start >= l.level and e.available < l.level
    where l.account_id = v_account.account_id and l.mode = v_account.mode and l.customer_id = v_account.customer_id and l.unit = v_account.unit
      and l.level = any (p_before.levels)
    order by sequence, part, id`

/** Has automatic top-ups looked at, which is what billing runs do: `DueStore.schedule`. */
const lookAtTopUps = (schema: SchemaName): string => `
  insert into ${schema}.billing_due as d (account_id, mode, kind, id, due_at)
  select t.account_id, t.mode, 'auto_top_up', t.id, to_timestamp(0)
  from ${schema}.auto_top_ups t
  where t.account_id = v_account.account_id and t.mode = v_account.mode and t.customer_id = v_account.customer_id and t.unit = v_account.unit
  order by t.id
  on conflict (account_id, mode, kind, id) do update set due_at = excluded.due_at, attempts = 0, problem = null,
    failed_at = null, retry_at = null, lease_token = null, leased_until = null;`

/** Whether a change falls below a level that is watched. */
const isCrossed = (schema: SchemaName): string => `exists (${ENDS(schema)}
    select from ends e join unnest(p_before.levels) as l (level) on e.at_start >= l.level and e.available < l.level
  )`

/**
 * Writes an account after its steps, and publishes their events. They have the same bytes as those of core: `CreditEvents`.
 * The ids of events are 2^30 apart, which leaves room for the ids of their deliveries and attempts.
 */
export const writeCredits = define(
  "write_credits",
  (schema) => `(
  p_before ${schema}.billing_credit_accounts, p_after ${schema}.billing_credit_accounts, p_now timestamptz
) returns void language plpgsql as $$
declare
  v_account ${schema}.billing_credit_accounts := p_after;
  v_first uuid := ${schema}.make_uuid_v7(p_now);
  v_count bigint := 0;
  v_event record;
  v_id uuid;
begin
  update ${schema}.billing_credit_accounts q set available = v_account.available, scoped = v_account.scoped, held = v_account.held, debt = v_account.debt,
    open_holds = v_account.open_holds, sequence = v_account.sequence
  where ${ofAccount("q")};
  for v_event in${EVENTS(schema)}
  loop
    v_id := ${schema}.offset_id(v_first, v_count * 1073741824);
    v_count := v_count + 1;
    perform ${schema}.publish_event_row(v_account.account_id, v_account.mode, v_id, v_event.type, ${millis("p_now")}, v_account.customer_id, null,
      ${schema}.event_payload(v_id, v_event.type, p_now, v_account.mode,
        '{"customer_id":"' || ${schema}.format_id('cus', v_account.customer_id) || '","unit":"' || v_account.unit
        || '","available":' || v_account.available::text || ',"held":' || v_account.held::text || ',"debt":' || v_account.debt::text
        || ',"sequence":' || v_event.sequence::text || coalesce(',' || v_event.more, '') || '}'), null);
  end loop;
  if ${isCrossed(schema)} then${lookAtTopUps(schema)}
  end if;
end
$$`,
  BY_INDEX,
)
