/**
 * Usage that burns credits.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * What Postgres refuses by itself, whoever writes: entries of an invoice that burn another amount of a unit than its lines
 * state, and more that is given back than it burnt. A draft burns nothing.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

const same = (a: string, b: string): string =>
  ["account_id", "mode", "customer_id"].map((name) => `${a}.${name} = ${b}.${name}`).join(" and ")

const entries = (schema: SchemaName): ReadonlyArray<string> => [
  `alter table ${schema}.billing_credit_entries
  drop constraint billing_credit_entries_kind_check,
  drop constraint billing_credit_entries_applied,
  add constraint billing_credit_entries_kind_check check (kind in (
    'grant', 'expire', 'void', 'consume', 'reserve', 'commit', 'release', 'lapse', 'repay', 'adjust', 'apply', 'restore',
    'burn'
  )),
  add constraint billing_credit_entries_applied
    check (kind not in ('apply', 'restore', 'burn') or invoice_id is not null)`,
  `create index billing_credit_entries_of_expiry
  on ${schema}.billing_credit_entries (account_id, mode, customer_id, unit, at) where kind = 'expire'`,
]

/** In money, an invoice uses credits. In units, its usage burns them. */
const rules = (schema: SchemaName): ReadonlyArray<string> => [
  `create or replace function ${schema}.check_invoice_credits() returns trigger ${SETTINGS} as $$
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
    select ${schema}.format_id('cgr', e.grant_id) as id, g.kind, -sum(e.available) as amount
    from own e join ${schema}.billing_credit_grants g on ${same("g", "e")} and g.id = e.grant_id
    where e.kind in ('apply', 'restore') and e.unit = v_invoice.currency
    group by 1, 2 having sum(e.available) <> 0
  ), burnt as (
    select e.unit, coalesce(sum(e.debt - e.available) filter (where e.kind = 'burn'), 0) as amount,
      coalesce(sum(e.available - e.debt) filter (where e.kind = 'restore'), 0) as given_back
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
  ) into v_is_wrong;
  if v_is_wrong then
    raise exception 'the credits of an invoice are not those that its entries used'
      using errcode = 'check_violation', table = 'billing_invoices', constraint = 'billing_invoices_credits';
  end if;
  return null;
end
$$`,
]

export const migration0044: Migration = {
  id: 44,
  name: "burnt_credits",
  minReader: 1,
  statements: (schema: SchemaName) => [...entries(schema), ...rules(schema)],
}
