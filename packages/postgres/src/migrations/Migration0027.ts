/**
 * Refunds of payments, and disputes.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * What Postgres refuses by itself, whoever writes, of payments that are there:
 *
 * - `check_returned`, at commit: refunds that have not failed come to no more than their payment; none reverses more
 *   than it gives back; what refunds and disputes reversed comes to no more than the payment applied; all are in the
 *   currency of the payment.
 * - `check_payments`, at commit: the amount that an invoice says is paid is the sum of what its payments applied, less what
 *   refunds and disputes reversed.
 * - `refuse_change_of_refund`, at once: what a refund is about stays, one that has failed stays so, and none is removed.
 * - A refund and a dispute at a provider are stored once.
 *
 * Messages contain no values, because they reach logs.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

const text = (name: string, length: number, rest = ""): string =>
  `${name} text collate "C"${rest} check (char_length(${name}) between 1 and ${length})`
const instant = (name: string, rest = ""): string => `${name} timestamptz(3)${rest} check (isfinite(${name}))`
const same = (a: string, b: string): string =>
  ["account_id", "mode", "customer_id"].map((name) => `${a}.${name} = ${b}.${name}`).join(" and ")

const FIRST = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  customer_id uuid not null,
  invoice_id uuid not null,
  payment_id uuid not null`

const AMOUNTS = `amount numeric(38, 0) not null check (amount > 0),
  reversed numeric(38, 0) not null check (reversed >= 0),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$')`

const LAST = `sequence jsonb not null check (jsonb_typeof(sequence) = 'number'),
  ${instant("created_at", " not null")},
  ${instant("updated_at", " not null")},
  primary key (account_id, mode, customer_id, id)`

const indexes = (schema: SchemaName, table: string): ReadonlyArray<string> => [
  `create unique index ${table}_id on ${schema}.${table} (account_id, mode, id)`,
  `create index ${table}_of_payment on ${schema}.${table} (account_id, mode, customer_id, payment_id, id)`,
  `create index ${table}_payment on ${schema}.${table} (account_id, mode, payment_id, id)`,
  `create index ${table}_of_invoice on ${schema}.${table} (account_id, mode, customer_id, invoice_id, id)`,
  `create index ${table}_invoice on ${schema}.${table} (account_id, mode, invoice_id, id)`,
  `create index ${table}_status on ${schema}.${table} (account_id, mode, status, id)`,
]

const tables = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.refunds (
  ${FIRST},
  credit_note_id uuid,
  ${AMOUNTS},
  ${text("reason", 100, " not null")},
  status text collate "C" not null check (status in ('pending', 'unresolved', 'succeeded', 'failed')),
  ${text("failure_code", 100)},
  ${text("provider", 64, " not null")},
  ${text("reference", 255)},
  ${instant("sent_at")},
  ${instant("succeeded_at")},
  ${LAST}
)`,
  `create unique index refunds_reference on ${schema}.refunds (account_id, mode, customer_id, payment_id, reference)
  where reference is not null`,
  ...indexes(schema, "refunds"),
  `create table ${schema}.disputes (
  ${FIRST},
  ${AMOUNTS},
  ${text("reason", 100, " not null")},
  status text collate "C" not null check (status in ('open', 'won', 'lost')),
  ${text("provider", 64, " not null")},
  ${text("reference", 255, " not null")},
  ${instant("respond_by")},
  ${instant("closed_at")},
  ${LAST}
)`,
  `create unique index disputes_reference on ${schema}.disputes (account_id, mode, reference)`,
  ...indexes(schema, "disputes"),
]

const reversedOf = (schema: SchemaName, of: string): string => `(
    select coalesce(sum(r.reversed), 0) from ${schema}.refunds r where ${of}
  ) + (
    select coalesce(sum(r.reversed), 0) from ${schema}.disputes r where ${of}
  )`

const rules = (schema: SchemaName): ReadonlyArray<string> => [
  `create or replace function ${schema}.check_payments() returns trigger ${SETTINGS} as $$
declare
  v_row jsonb := to_jsonb(new);
  v_invoice ${schema}.billing_invoices;
  v_applied numeric;
  v_reversed numeric;
  v_has_other_currency boolean;
  v_problem text;
begin
  select i.* into v_invoice from ${schema}.billing_invoices i
  where ${same("i", "new")} and i.id = coalesce(v_row ->> 'invoice_id', v_row ->> 'id')::uuid;
  select coalesce(sum(p.applied), 0), coalesce(bool_or(p.currency <> v_invoice.currency), false)
  into v_applied, v_has_other_currency
  from ${schema}.billing_payments p where ${same("p", "v_invoice")} and p.invoice_id = v_invoice.id;
  v_reversed := ${reversedOf(schema, `${same("r", "v_invoice")} and r.invoice_id = v_invoice.id`)};
  v_problem := case
    when v_invoice.amount_paid <> v_applied - v_reversed then 'the invoice says that another amount is paid'
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
  // The payment is held, so that two transactions do not each give back what is left.
  `create function ${schema}.check_returned() returns trigger ${SETTINGS} as $$
declare
  v_payment ${schema}.billing_payments;
  v_refunded numeric;
  v_problem text;
begin
  select p.* into v_payment from ${schema}.billing_payments p
  where ${same("p", "new")} and p.id = new.payment_id for no key update;
  if not found then
    return null;
  end if;
  select coalesce(sum(r.amount), 0) into v_refunded from ${schema}.refunds r
  where ${same("r", "v_payment")} and r.payment_id = v_payment.id and r.status <> 'failed';
  v_problem := case
    when v_payment.status <> 'succeeded' then 'the payment has not succeeded'
    when new.reversed > new.amount then 'more is reversed than went back'
    when v_refunded > v_payment.amount then 'more is refunded than was paid'
    when new.invoice_id <> v_payment.invoice_id then 'the invoice is not that of the payment'
    when new.currency <> v_payment.currency then 'the currency is not that of the payment'
    when ${reversedOf(schema, `${same("r", "v_payment")} and r.payment_id = v_payment.id`)} > v_payment.applied
      then 'more is reversed than was applied'
  end;
  if v_problem is not null then
    raise exception 'what went back of a payment is wrong: %', v_problem
      using errcode = 'check_violation', table = 'refunds', constraint = 'refunds_sums';
  end if;
  return null;
end
$$`,
  ...["refunds", "disputes"].flatMap((table) => [
    `create constraint trigger ${table}_sums after insert or update on ${schema}.${table}
deferrable initially deferred for each row execute function ${schema}.check_returned()`,
    `create constraint trigger ${table}_reversed after update on ${schema}.${table}
deferrable initially deferred for each row when (old.reversed <> new.reversed)
execute function ${schema}.check_payments()`,
    `create constraint trigger ${table}_reversed_new after insert on ${schema}.${table}
deferrable initially deferred for each row when (new.reversed <> 0)
execute function ${schema}.check_payments()`,
  ]),
  `create function ${schema}.refuse_change_of_refund() returns trigger ${SETTINGS} as $$
declare
  v_changing text[] := '{reversed, status, reason, failure_code, reference, sent_at, succeeded_at, respond_by, closed_at, sequence, updated_at}'::text[];
begin
  if not exists (
    select from ${schema}.billing_payments p where ${same("p", "old")} and p.id = old.payment_id
  ) then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'UPDATE' then
    if (to_jsonb(old) - v_changing) = (to_jsonb(new) - v_changing) and (old.status <> 'failed' or new.status = 'failed') then
      return new;
    end if;
  end if;
  raise exception 'what a refund or a dispute is about can''t be changed, and none can be removed'
    using errcode = 'restrict_violation', table = tg_table_name, constraint = 'refunds_are_final';
end
$$`,
  ...["refunds", "disputes"].map(
    (table) => `create trigger ${table}_are_final before update or delete on ${schema}.${table}
for each row execute function ${schema}.refuse_change_of_refund()`,
  ),
]

export const migration0027: Migration = {
  id: 27,
  name: "refunds",
  minReader: 1,
  statements: (schema: SchemaName) => [
    ...tables(schema),
    ...rules(schema),
    `alter table ${schema}.billing_due drop constraint billing_due_kind, drop constraint billing_due_customer,
  add constraint billing_due_kind
    check (kind in ('invoice', 'payment', 'payment_method', 'plan_migration', 'refund', 'subscription', 'test_clock')),
  add constraint billing_due_customer
    check ((kind in ('payment_method', 'plan_migration', 'refund', 'test_clock')) = (customer_id is null))`,
  ],
}
