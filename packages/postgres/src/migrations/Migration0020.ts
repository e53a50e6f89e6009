/**
 * Invoices of several subscriptions.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * An invoice of one subscription has its cause in its row. One of several has none there, and a row here for each of
 * them. A period and a segment of a subscription has one invoice at most, of either kind:
 *
 * - The keys of both tables refuse a second one of a kind.
 * - `check_invoice_causes`, with each statement that adds either, refuses one of the other kind. A cause locks its
 *   subscription, and the key of an invoice does, too. So of two transactions, one sees the other's.
 * - `refuse_change_of_cause`, at once: causes stay as long as their invoice, and only a draft can go.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

const table = (schema: SchemaName): ReadonlyArray<string> => [
  `alter table ${schema}.billing_subscriptions add column invoice_group text
  check (char_length(invoice_group) between 1 and 64)`,
  `create index billing_subscriptions_group on ${schema}.billing_subscriptions
  (account_id, mode, customer_id, invoice_group, id) where invoice_group is not null`,
  `create table ${schema}.billing_invoice_causes (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null,
  subscription_id uuid not null,
  invoice_id uuid not null,
  cause jsonb not null check (jsonb_typeof(cause) = 'object'),
  period integer generated always as ((cause -> 'period' ->> 'number')::integer) stored not null check (period >= 0),
  segment integer generated always as ((cause ->> 'segment')::integer) stored not null check (segment >= 0),
  primary key (account_id, mode, customer_id, subscription_id, period, segment),
  constraint billing_invoice_causes_invoice foreign key (account_id, mode, customer_id, invoice_id)
    references ${schema}.billing_invoices,
  constraint billing_invoice_causes_subscription foreign key (account_id, mode, customer_id, subscription_id)
    references ${schema}.billing_subscriptions
)`,
  `create unique index billing_invoice_causes_of_invoice
  on ${schema}.billing_invoice_causes (account_id, mode, customer_id, invoice_id, subscription_id)`,
  `create index billing_invoice_causes_of_subscription
  on ${schema}.billing_invoice_causes (account_id, mode, subscription_id, invoice_id)`,
]

const OF_INVOICE = "c.account_id = i.account_id and c.mode = i.mode and c.customer_id = i.customer_id"

const rules = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.check_invoice_causes() returns trigger ${SETTINGS} as $$
declare
  v_is_twice boolean;
begin
  if tg_table_name = 'billing_invoice_causes' then
    perform from ${schema}.billing_subscriptions s
    where (s.account_id, s.mode, s.customer_id, s.id) in (
      select a.account_id, a.mode, a.customer_id, a.subscription_id from added a
    )
    order by s.id for update;
    if exists (
      select from added c join ${schema}.billing_invoices i on ${OF_INVOICE} and i.id = c.invoice_id
      where i.subscription_id is not null
    ) then
      raise exception 'an invoice of one subscription has its cause in its row'
        using errcode = 'check_violation', table = 'billing_invoice_causes', constraint = 'billing_invoice_causes_shared';
    end if;
    select exists (
      select from added c join ${schema}.billing_invoices i
        on ${OF_INVOICE} and i.subscription_id = c.subscription_id and i.cause_period = c.period and i.cause_segment = c.segment
    ) into v_is_twice;
  else
    select exists (
      select from added i join ${schema}.billing_invoice_causes c
        on ${OF_INVOICE} and c.subscription_id = i.subscription_id and c.period = i.cause_period and c.segment = i.cause_segment
    ) into v_is_twice;
  end if;
  if v_is_twice then
    raise exception 'a period of a subscription has an invoice already'
      using errcode = 'unique_violation', table = tg_table_name, constraint = 'billing_invoice_causes_once';
  end if;
  return null;
end
$$`,
  `create trigger billing_invoice_causes_once after insert on ${schema}.billing_invoice_causes
referencing new table as added for each statement execute function ${schema}.check_invoice_causes()`,
  `create trigger billing_invoices_once after insert on ${schema}.billing_invoices
referencing new table as added for each statement execute function ${schema}.check_invoice_causes()`,
  `create function ${schema}.refuse_change_of_cause() returns trigger ${SETTINGS} as $$
begin
  if tg_op = 'DELETE' and not exists (
    select from ${schema}.billing_invoices i
    where i.account_id = old.account_id and i.mode = old.mode and i.customer_id = old.customer_id
      and i.id = old.invoice_id and i.status <> 'draft'
  ) then return old; end if;
  raise exception 'the causes of an invoice don''t change'
    using errcode = 'restrict_violation', table = 'billing_invoice_causes', constraint = 'billing_invoice_causes_are_final';
end
$$`,
  `create trigger billing_invoice_causes_are_final before update or delete on ${schema}.billing_invoice_causes
for each row execute function ${schema}.refuse_change_of_cause()`,
  `create trigger billing_invoice_causes_stay before truncate on ${schema}.billing_invoice_causes
for each statement execute function ${schema}.refuse_change_of_cause()`,
]

const instantOf = (path: string): string =>
  `to_timestamp((s.state ->> '${path}')::float8 / 1000)::timestamptz(3)`

/** The view as it was, and the group. */
const view = (schema: SchemaName): string => `create or replace view ${schema}.subscriptions as
select s.account_id, s.mode, s.customer_id, s.id, s.phase, s.state -> 'plan' ->> 'key' as plan_key,
  (s.state -> 'plan' ->> 'version')::integer as plan_version, s.state ->> 'currency' as currency,
  s.state -> 'quantities' as quantities, ${instantOf("startAt")} as start_at, ${instantOf("trialEndAt")} as trial_end_at,
  ${instantOf("activatedAt")} as activated_at,
  to_timestamp((s.state -> 'period' ->> 'start')::float8 / 1000)::timestamptz(3) as period_start,
  to_timestamp((s.state -> 'period' ->> 'end')::float8 / 1000)::timestamptz(3) as period_end,
  ${instantOf("pausedAt")} as paused_at, ${instantOf("canceledAt")} as canceled_at, ${instantOf("endsAt")} as ends_at,
  ${instantOf("endedAt")} as ended_at, (s.state ->> 'sequence')::bigint as sequence, s.metadata, s.created_at, s.updated_at,
  s.invoice_group
from ${schema}.billing_subscriptions s`

export const migration0020: Migration = {
  id: 20,
  name: "invoice_groups",
  minReader: 1,
  statements: (schema: SchemaName) => [...table(schema), ...rules(schema), view(schema)],
}
