/**
 * Invoices whose payment is late, and subscriptions that are past due.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * The due dates of invoices that are open are put in the queue. Those that are over are noted by the next billing run.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const sameTenant = (a: string, b: string): string =>
  `${a}.account_id = ${b}.account_id and ${a}.mode = ${b}.mode and ${a}.customer_id = ${b}.customer_id`

const column = (schema: SchemaName): ReadonlyArray<string> => [
  `alter table ${schema}.billing_invoices add column past_due_since timestamptz(3) check (isfinite(past_due_since))`,
  `comment on column ${schema}.billing_invoices.past_due_since is
  'When its payment was late first: when an attempt was declined, or when its due date was over. It stays when it is paid.'`,
  `create index billing_invoices_past_due on ${schema}.billing_invoices (account_id, mode, customer_id)
  where status = 'open' and past_due_since is not null`,
]

const dueDates = (schema: SchemaName): string => `insert into ${schema}.billing_due
  (account_id, mode, kind, id, customer_id, due_at, test_clock_id)
select i.account_id, i.mode, 'invoice', i.id, i.customer_id, i.payment_due_at + interval '1 millisecond', c.test_clock_id
from ${schema}.billing_invoices i left join ${schema}.customers c
  on c.account_id = i.account_id and c.mode = i.mode and c.id = i.customer_id and c.mode = 'test'
where i.status = 'open' and i.payment_due_at is not null
on conflict (account_id, mode, kind, id) do nothing`

const instantOf = (path: string): string =>
  `to_timestamp((s.state ->> '${path}')::float8 / 1000)::timestamptz(3)`

const views = (schema: SchemaName): ReadonlyArray<string> => [
  `create or replace view ${schema}.subscriptions as
select s.account_id, s.mode, s.customer_id, s.id, s.phase, s.state -> 'plan' ->> 'key' as plan_key,
  (s.state -> 'plan' ->> 'version')::integer as plan_version, s.state ->> 'currency' as currency,
  s.state -> 'quantities' as quantities, ${instantOf("startAt")} as start_at, ${instantOf("trialEndAt")} as trial_end_at,
  ${instantOf("activatedAt")} as activated_at,
  to_timestamp((s.state -> 'period' ->> 'start')::float8 / 1000)::timestamptz(3) as period_start,
  to_timestamp((s.state -> 'period' ->> 'end')::float8 / 1000)::timestamptz(3) as period_end,
  ${instantOf("pausedAt")} as paused_at, ${instantOf("canceledAt")} as canceled_at, ${instantOf("endsAt")} as ends_at,
  ${instantOf("endedAt")} as ended_at, (s.state ->> 'sequence')::bigint as sequence, s.metadata, s.created_at, s.updated_at,
  s.invoice_group, (
    select min(i.past_due_since) from ${schema}.billing_invoices i
    where ${sameTenant("i", "s")} and i.status = 'open' and i.past_due_since is not null and (
      i.subscription_id = s.id or i.subscription_id is null and exists (
        select from ${schema}.billing_invoice_causes c
        where ${sameTenant("c", "s")} and c.subscription_id = s.id and c.invoice_id = i.id
      )
    )
  ) as past_due_since
from ${schema}.billing_subscriptions s`,
  `create or replace view ${schema}.invoices as
select i.account_id, i.mode, i.customer_id, i.id, i.subscription_id, i.status, i.number, i.currency, i.period_start,
  i.period_end, i.subtotal, i.tax, i.total, i.amount_paid, i.amount_credited, i.amount_due, i.issued_at,
  i.payment_due_at as due_at, i.collection, i.sequence, i.created_at, i.updated_at,
  case i.status when 'open' then i.past_due_since end as past_due_since
from ${schema}.billing_invoices i`,
]

export const migration0029: Migration = {
  id: 29,
  name: "past_due",
  minReader: 1,
  statements: (schema: SchemaName) => [...column(schema), dueDates(schema), ...views(schema)],
}
