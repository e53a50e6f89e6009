/**
 * Payments of invoices.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * The table is internal. Hosts read the view `payments`, whose columns stay.
 *
 * What Postgres refuses by itself, whoever writes:
 *
 * - `check_payments`, at commit: the amount that an invoice says is paid is the sum of what its payments applied; money is
 *   overpaid only when nothing of the invoice is due; payments are of an issued invoice and in its currency.
 * - `refuse_change_of_payment`, at once: a payment that has succeeded never changes, and none is removed. Of an open or
 *   closed one, what it is about stays.
 * - An invoice has one open payment at most, and one with the same provider and reference.
 *
 * Messages contain no values, because they reach logs.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

const same = (a: string, b: string): string =>
  ["account_id", "mode", "customer_id"].map((name) => `${a}.${name} = ${b}.${name}`).join(" and ")

const FINAL_FIELDS = [
  "account_id",
  "mode",
  "customer_id",
  "id",
  "invoice_id",
  "currency",
  "provider",
  "amount",
]
const rowOf = (alias: string): string => `(${FINAL_FIELDS.map((name) => `${alias}.${name}`).join(", ")})`

const tables = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.billing_payments (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null,
  id uuid not null,
  invoice_id uuid not null,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  provider text collate "C" not null check (char_length(provider) between 1 and 64),
  reference text collate "C" check (char_length(reference) between 1 and 255),
  status text collate "C" not null check (status in ('open', 'succeeded', 'closed')),
  amount numeric(38, 0) not null check (amount > 0),
  applied numeric(38, 0) not null check (applied >= 0),
  overpaid numeric(38, 0) not null check (overpaid >= 0),
  paid_at timestamptz(3) check (isfinite(paid_at)),
  sequence bigint not null check (sequence >= 1),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  updated_at timestamptz(3) not null check (isfinite(updated_at)),
  primary key (account_id, mode, customer_id, id),
  constraint billing_payments_parts check (
    applied + overpaid = case status when 'succeeded' then amount else 0 end
  ),
  constraint billing_payments_paid check ((status = 'succeeded') = (paid_at is not null)),
  constraint billing_payments_invoice foreign key (account_id, mode, customer_id, invoice_id)
    references ${schema}.billing_invoices
)`,
  `create unique index billing_payments_open
  on ${schema}.billing_payments (account_id, mode, customer_id, invoice_id) where status = 'open'`,
  `create unique index billing_payments_reference
  on ${schema}.billing_payments (account_id, mode, customer_id, invoice_id, provider, reference)
  where reference is not null`,
  `create index billing_payments_of_invoice
  on ${schema}.billing_payments (account_id, mode, customer_id, invoice_id, id)`,
  `create index billing_payments_status on ${schema}.billing_payments (account_id, mode, status, id)`,
  `create index billing_payments_id on ${schema}.billing_payments (account_id, mode, id)`,
]

const rules = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.check_payments() returns trigger ${SETTINGS} as $$
declare
  v_row jsonb := to_jsonb(new);
  v_invoice ${schema}.billing_invoices;
  v_applied numeric;
  v_has_other_currency boolean;
  v_problem text;
begin
  select i.* into v_invoice from ${schema}.billing_invoices i
  where ${same("i", "new")} and i.id = coalesce(v_row ->> 'invoice_id', v_row ->> 'id')::uuid;
  select coalesce(sum(p.applied), 0), coalesce(bool_or(p.currency <> v_invoice.currency), false)
  into v_applied, v_has_other_currency
  from ${schema}.billing_payments p where ${same("p", "v_invoice")} and p.invoice_id = v_invoice.id;
  v_problem := case
    when v_invoice.amount_paid <> v_applied then 'the invoice says that another amount is paid'
    when tg_table_name <> 'billing_payments' then null
    when v_invoice.number is null then 'the invoice is a draft'
    when v_has_other_currency then 'the currency is not that of the invoice'
    when (v_row ->> 'overpaid')::numeric > 0 and v_invoice.amount_due > 0 then 'money is overpaid while something is due'
  end;
  if v_problem is not null then
    raise exception 'the payments of an invoice are wrong: %', v_problem
      using errcode = 'check_violation', table = 'billing_payments', constraint = 'billing_payments_sums';
  end if;
  return null;
end
$$`,
  `create constraint trigger billing_payments_sums after insert or update on ${schema}.billing_payments
deferrable initially deferred for each row execute function ${schema}.check_payments()`,
  `create constraint trigger billing_invoices_payments after update on ${schema}.billing_invoices
deferrable initially deferred for each row when (old.amount_paid <> new.amount_paid)
execute function ${schema}.check_payments()`,
  `create constraint trigger billing_invoices_payments_new after insert on ${schema}.billing_invoices
deferrable initially deferred for each row when (new.amount_paid <> 0)
execute function ${schema}.check_payments()`,
  `create function ${schema}.refuse_change_of_payment() returns trigger ${SETTINGS} as $$
begin
  if tg_op = 'UPDATE' then
    if old.status <> 'succeeded' and ${rowOf("old")} = ${rowOf("new")} then
      return new;
    end if;
  end if;
  raise exception 'a payment that has succeeded can''t be changed, and none can be removed'
    using errcode = 'restrict_violation', table = 'billing_payments', constraint = 'billing_payments_are_final';
end
$$`,
  `create trigger billing_payments_are_final before update or delete on ${schema}.billing_payments
for each row execute function ${schema}.refuse_change_of_payment()`,
  `create trigger billing_payments_stay before truncate on ${schema}.billing_payments
for each statement execute function ${schema}.refuse_change_of_payment()`,
]

const views = (schema: SchemaName): ReadonlyArray<string> => [
  `create view ${schema}.payments as
select p.account_id, p.mode, p.customer_id, p.id, p.invoice_id, p.provider, p.reference, p.status, p.currency, p.amount,
  p.applied, p.overpaid, p.paid_at, p.sequence, p.created_at, p.updated_at
from ${schema}.billing_payments p`,
  `comment on view ${schema}.payments is 'For hosts to read and join: its columns stay. Amounts are in the minor unit.'`,
]

export const migration0017: Migration = {
  id: 17,
  name: "payments",
  minReader: 1,
  statements: (schema: SchemaName) => [...tables(schema), ...rules(schema), ...views(schema)],
}
