/**
 * Credits on invoices.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * What Postgres refuses by itself, whoever writes:
 *
 * - `check_invoice_credits`, at commit: an issued invoice states of each grant what the entries of the invoice used of it,
 *   promotional credits as discounts and paid ones as payments. Of a draft and of a void invoice that is nothing.
 * - A second grant of an account for a credit note, and for an invoice.
 *
 * Messages contain no values, because they reach logs.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

const same = (a: string, b: string): string =>
  ["account_id", "mode", "customer_id"].map((name) => `${a}.${name} = ${b}.${name}`).join(" and ")

const HAS_CREDITS = "(new.state -> 'applied' <> '[]' or new.state -> 'discounts' <> '[]')"

const columns = (schema: SchemaName): ReadonlyArray<string> => [
  `alter table ${schema}.billing_credit_grants
  add column source_type text collate "C" check (source_type in ('credit_note', 'invoice')),
  add column source_id uuid,
  add constraint billing_credit_grants_source check ((source_type is null) = (source_id is null))`,
  `create unique index billing_credit_grants_of_source
  on ${schema}.billing_credit_grants (account_id, mode, customer_id, unit, source_type, source_id)
  where source_id is not null`,
  `alter table ${schema}.billing_credit_entries
  add column invoice_id uuid,
  drop constraint billing_credit_entries_kind_check,
  add constraint billing_credit_entries_kind_check check (kind in (
    'grant', 'expire', 'void', 'consume', 'reserve', 'commit', 'release', 'lapse', 'repay', 'apply', 'restore'
  )),
  add constraint billing_credit_entries_applied check (kind not in ('apply', 'restore') or invoice_id is not null),
  add constraint billing_credit_entries_invoice foreign key (account_id, mode, customer_id, invoice_id)
    references ${schema}.billing_invoices`,
  `create index billing_credit_entries_of_invoice
  on ${schema}.billing_credit_entries (account_id, mode, customer_id, invoice_id) where invoice_id is not null`,
]

const rules = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.check_invoice_credits() returns trigger ${SETTINGS} as $$
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
  ), used as (
    select ${schema}.format_id('cgr', e.grant_id) as id, g.kind, -sum(e.available) as amount
    from ${schema}.billing_credit_entries e
    join ${schema}.billing_credit_grants g on ${same("g", "e")} and g.id = e.grant_id
    where ${same("e", "v_invoice")} and e.invoice_id = v_invoice.id and e.kind in ('apply', 'restore')
      and e.unit = v_invoice.currency
    group by 1, 2 having sum(e.available) <> 0
  )
  select exists (
    select from stated s full join used u on u.id = s.id and u.kind = s.kind where u.amount is distinct from s.amount
  ) or exists (
    select from ${schema}.billing_credit_entries e
    where ${same("e", "v_invoice")} and e.invoice_id = v_invoice.id and e.unit <> v_invoice.currency
  ) into v_is_wrong;
  if v_is_wrong then
    raise exception 'the credits of an invoice are not those that its entries used'
      using errcode = 'check_violation', table = 'billing_invoices', constraint = 'billing_invoices_credits';
  end if;
  return null;
end
$$`,
  `create constraint trigger billing_invoices_credits after insert on ${schema}.billing_invoices
deferrable initially deferred for each row when (new.status <> 'draft' and ${HAS_CREDITS})
execute function ${schema}.check_invoice_credits()`,
  `create constraint trigger billing_invoices_credits_changed after update on ${schema}.billing_invoices
deferrable initially deferred for each row when (old.status <> new.status and ${HAS_CREDITS})
execute function ${schema}.check_invoice_credits()`,
  `create constraint trigger billing_credit_entries_sums after insert on ${schema}.billing_credit_entries
deferrable initially deferred for each row when (new.invoice_id is not null)
execute function ${schema}.check_invoice_credits()`,
]

export const migration0033: Migration = {
  id: 33,
  name: "invoice_credits",
  minReader: 1,
  statements: (schema: SchemaName) => [...columns(schema), ...rules(schema)],
}
