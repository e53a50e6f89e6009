/**
 * Grants of credits that pay for some things alone.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * What is available of grants with a scope is `scoped` of the account, and no part of `available`. So an account can have credits
 * with a scope and a debt, and still never something available and a debt. What Postgres refuses by itself counts both:
 *
 * - `check_credit_account`, at commit: an account changes by what its new entries say, and by nothing else.
 * - `check_invoice_credits`, at commit: the entries of an invoice use of each grant, and burn of each unit, what it states.
 *   What a grant that was voided gets back is gone at once, so `void` entries of an invoice only ever take.
 * - The scope of a grant never changes.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

const same = (a: string, b: string): string =>
  ["account_id", "mode", "customer_id"].map((name) => `${a}.${name} = ${b}.${name}`).join(" and ")

const amount = (name: string, rest = ""): string => `${name} numeric(38, 0) not null default 0${rest}`
const purpose = `purpose text collate "C" check (purpose ~ '^[a-z][a-z0-9_]{0,63}$')`

const columns = (schema: SchemaName): ReadonlyArray<string> => [
  `alter table ${schema}.billing_credit_accounts add column ${amount("scoped", " check (scoped >= 0)")}`,
  `alter table ${schema}.billing_credit_grants
  add column scope jsonb check (jsonb_typeof(scope) = 'array' and jsonb_array_length(scope) between 1 and 20)`,
  `alter table ${schema}.billing_credit_holds add column ${purpose}`,
  `alter table ${schema}.billing_credit_consumptions add column ${purpose}`,
  `alter table ${schema}.billing_credit_entries
  add column ${amount("scoped")},
  add column ${purpose},
  drop constraint billing_credit_entries_something,
  add constraint billing_credit_entries_something check ((available, scoped, held, debt) <> (0, 0, 0, 0)),
  add constraint billing_credit_entries_scoped check (scoped = 0 or available = 0)`,
  `comment on column ${schema}.billing_credit_accounts.scoped is
  'What is available of grants with a scope. It is no part of available.'`,
  `create function ${schema}.refuse_change_of_scope() returns trigger ${SETTINGS} as $$
begin
  raise exception 'the scope of a grant of credits does not change'
    using errcode = 'restrict_violation', table = 'billing_credit_grants', constraint = 'billing_credit_grants_scope';
end
$$`,
  `create trigger billing_credit_grants_scope before update of scope on ${schema}.billing_credit_grants
for each row when (old.scope is distinct from new.scope) execute function ${schema}.refuse_change_of_scope()`,
]

/** Only the primary key has the entries in this order, and there is no other plan without a sort. */
const checkAccount = (
  schema: SchemaName,
): string => `create or replace function ${schema}.check_credit_account()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off
set enable_sort = off set enable_incremental_sort = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  v_before bigint := 0;
  v_available numeric := 0;
  v_scoped numeric := 0;
  v_held numeric := 0;
  v_debt numeric := 0;
  v_is_sum boolean;
begin
  if tg_op = 'UPDATE' then
    v_before := old.sequence;
    v_available := old.available;
    v_scoped := old.scoped;
    v_held := old.held;
    v_debt := old.debt;
  end if;
  select count(*) = new.sequence - v_before
    and coalesce(sum(e.available), 0) = new.available - v_available
    and coalesce(sum(e.scoped), 0) = new.scoped - v_scoped
    and coalesce(sum(e.held), 0) = new.held - v_held
    and coalesce(sum(e.debt), 0) = new.debt - v_debt
  into v_is_sum
  from (
    select e.available, e.scoped, e.held, e.debt from ${schema}.billing_credit_entries e
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

/** In money, an invoice uses credits. In units, its usage burns them. */
const checkInvoice = (
  schema: SchemaName,
): string => `create or replace function ${schema}.check_invoice_credits() returns trigger ${SETTINGS} as $$
declare
  v_row jsonb := to_jsonb(new);
  v_invoice ${schema}.billing_invoices;
  v_is_wrong boolean;
begin
  select i.* into v_invoice from ${schema}.billing_invoices i
  where ${same("i", "new")} and i.id = coalesce(v_row ->> 'invoice_id', v_row ->> 'id')::uuid;
  if not found then return null; end if;
  with stated as (
    select s.id, s.kind, sum(s.amount) as amount from (
      select d.discount ->> 'id', 'promotional', (d.discount ->> 'amount')::numeric
      from jsonb_array_elements(v_invoice.state -> 'discounts') as d (discount)
      where d.discount ->> 'type' = 'promotional_credit'
      union all
      select a.applied ->> 'id', 'paid', (a.applied ->> 'amount')::numeric
      from jsonb_array_elements(v_invoice.state -> 'applied') as a (applied)
      where a.applied ->> 'type' = 'paid_credit'
    ) as s (id, kind, amount)
    where v_invoice.status not in ('draft', 'void') group by 1, 2
  ), own as (
    select e.* from ${schema}.billing_credit_entries e
    where ${same("e", "v_invoice")} and e.invoice_id = v_invoice.id
  ), used as (
    select ${schema}.format_id('cgr', e.grant_id) as id, g.kind, -sum(e.available + e.scoped) as amount
    from own e join ${schema}.billing_credit_grants g on ${same("g", "e")} and g.id = e.grant_id
    where e.kind in ('apply', 'restore') and e.unit = v_invoice.currency
    group by 1, 2 having sum(e.available + e.scoped) <> 0
  ), burnt as (
    select e.unit, coalesce(sum(e.debt - e.available - e.scoped) filter (where e.kind = 'burn'), 0) as amount,
      coalesce(sum(e.available + e.scoped - e.debt) filter (where e.kind = 'restore'), 0) as given_back
    from own e where e.unit <> v_invoice.currency and e.kind in ('burn', 'restore') group by 1
  ), stated_to_burn as (
    select l.line -> 'origin' -> 'burns' ->> 'unit' as unit, sum((l.line -> 'origin' -> 'burns' ->> 'amount')::numeric) as amount
    from ${schema}.billing_invoice_lines l
    where ${same("l", "v_invoice")} and l.invoice_id = v_invoice.id and v_invoice.status <> 'draft'
      and exists (select from burnt) and (l.line -> 'origin' -> 'burns' ->> 'amount')::numeric > 0
    group by 1
  )
  select exists (
    select from stated s full join used u on u.id = s.id and u.kind = s.kind where u.amount is distinct from s.amount
  ) or exists (
    select from burnt b left join stated_to_burn s on s.unit = b.unit
    where b.amount is distinct from coalesce(s.amount, 0) or b.given_back > b.amount
  ) or exists (
    select from own e where e.unit <> v_invoice.currency and e.kind not in ('burn', 'restore', 'expire')
      and (e.kind <> 'void' or e.available + e.scoped > 0)
  ) into v_is_wrong;
  if v_is_wrong then
    raise exception 'the credits of an invoice are not those that its entries used'
      using errcode = 'check_violation', table = 'billing_invoices', constraint = 'billing_invoices_credits';
  end if;
  return null;
end
$$`

export const migration0047: Migration = {
  id: 47,
  name: "scoped_credits",
  // A process of an older release does not know scopes, as the release notes say.
  minReader: 1,
  statements: (schema: SchemaName) => [...columns(schema), checkAccount(schema), checkInvoice(schema)],
}
