/**
 * Subscriptions, invoices, and the queue of what is due on them.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * The tables are internal. Hosts read the views `subscriptions`, `invoices` and `invoice_lines`, whose columns stay.
 *
 * A row has its value as JSON, and columns for what is searched, summed and checked. These columns are generated from the
 * JSON, so that the two never differ. Amounts are in the minor unit of the currency, and texts in the JSON, because JSON
 * numbers lose digits in many languages.
 *
 * Account, mode and customer are at the head of the keys, so that the tables can be distributed by customer. The
 * exceptions are the queue and the series of numbers, and the number of an invoice, which is unique for the account.
 *
 * Triggers refuse what no code may do, also for the owner of the tables: see `BillingRules.ts`.
 */
import type { SchemaName } from "../SchemaName.ts"
import { billingRules } from "./BillingRules.ts"
import type { Migration } from "./Migration.ts"

const accountAndMode = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test'))`

const changes = `created_at timestamptz(3) not null check (isfinite(created_at)),
  updated_at timestamptz(3) not null check (isfinite(updated_at))`

const generated = (name: string, type: string, expression: string, rest = ""): string =>
  `${name} ${type} generated always as (${expression}) stored${rest}`
const word = (name: string, expression: string, rest = ""): string =>
  generated(name, 'text collate "C"', expression, rest)
const amount = (name: string, expression: string, rest = ""): string =>
  generated(name, "numeric(38, 0)", `(${expression})::numeric`, ` not null${rest}`)
const at = (name: string, expression: string): string =>
  generated(name, "timestamptz(3)", `to_timestamp((${expression})::float8 / 1000)`)

const subscriptions = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.billing_subscriptions (
  ${accountAndMode},
  customer_id uuid not null,
  id uuid not null,
  state jsonb not null check (jsonb_typeof(state) = 'object'),
  metadata jsonb not null check (jsonb_typeof(metadata) = 'object'),
  ${changes},
  ${word("phase", "state ->> 'phase'", " not null check (phase in ('scheduled', 'trialing', 'active', 'paused', 'ended'))")},
  primary key (account_id, mode, customer_id, id)
)`,
  `create index billing_subscriptions_live on ${schema}.billing_subscriptions (account_id, mode, customer_id)
  where phase <> 'ended'`,
  `create index billing_subscriptions_phase on ${schema}.billing_subscriptions (account_id, mode, phase, id)`,
  // The last index, which the planner takes for a look-up by id while the table was never analyzed.
  `create index billing_subscriptions_id on ${schema}.billing_subscriptions (account_id, mode, id)`,
  `create table ${schema}.billing_periods (
  ${accountAndMode},
  customer_id uuid not null,
  subscription_id uuid not null,
  number integer not null check (number >= 0),
  period jsonb not null check (jsonb_typeof(period) = 'object'),
  primary key (account_id, mode, customer_id, subscription_id, number),
  constraint billing_periods_subscription foreign key (account_id, mode, customer_id, subscription_id)
    references ${schema}.billing_subscriptions
)`,
]

const invoices = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.billing_invoices (
  ${accountAndMode},
  customer_id uuid not null,
  id uuid not null,
  subscription_id uuid,
  cause jsonb check (jsonb_typeof(cause) = 'object'),
  state jsonb not null check (jsonb_typeof(state) = 'object' and not state ? 'lines'),
  lines_bytes integer not null check (lines_bytes >= 2),
  lines_written bigint not null default 0,
  ${changes},
  ${generated("cause_period", "integer", "(cause -> 'period' ->> 'number')::integer")},
  ${generated("cause_segment", "integer", "(cause ->> 'segment')::integer")},
  ${word("status", "state ->> 'status'", " not null check (status in ('draft', 'open', 'paid', 'void', 'uncollectible'))")},
  ${word("number", "state ->> 'number'")},
  ${word("currency", "state ->> 'currency'", " not null check (currency ~ '^[A-Z]{3}$')")},
  ${at("period_start", "state ->> 'periodStart'")},
  ${at("period_end", "state ->> 'periodEnd'")},
  ${amount("subtotal", "state ->> 'subtotal'")},
  ${amount("tax", "state ->> 'tax'")},
  ${amount("total", "state ->> 'total'")},
  ${amount("credited", "state ->> 'credited'")},
  ${amount("amount_paid", "state ->> 'amountPaid'", " check (amount_paid >= 0)")},
  ${amount("amount_credited", "state ->> 'amountCredited'", " check (amount_credited >= 0)")},
  ${amount("amount_waived", "state ->> 'amountWaived'", " check (amount_waived >= 0)")},
  ${amount("amount_due", "state ->> 'amountDue'", " check (amount_due >= 0)")},
  ${at("issued_at", "state ->> 'issuedAt'")},
  ${at("payment_due_at", "state ->> 'dueAt'")},
  ${word("collection", "state ->> 'collection'", " not null")},
  ${generated("sequence", "bigint", "(state ->> 'sequence')::bigint", " not null")},
  primary key (account_id, mode, customer_id, id),
  constraint billing_invoices_cause unique (account_id, mode, customer_id, subscription_id, cause_period, cause_segment),
  constraint billing_invoices_caused check (
    case when cause is null then true
    else subscription_id is not null and cause_period is not null and cause_segment is not null end
  ),
  constraint billing_invoices_issued check (
    (status = 'draft') = (number is null) and (status = 'draft') = (issued_at is null)
  ),
  constraint billing_invoices_paid check (
    case status when 'paid' then amount_due = 0 when 'open' then amount_due > 0 when 'uncollectible' then amount_due > 0
    else true end
  ),
  constraint billing_invoices_credited check (credited = greatest(-total, 0))
)`,
  `comment on column ${schema}.billing_invoices.lines_bytes is 'The bytes of the lines as JSON, for the size of a page.'`,
  `comment on column ${schema}.billing_invoices.lines_written is
  'Counts statements that wrote lines. So a change of lines is a change of the invoice, whose sums are checked at commit.'`,
  `create unique index billing_invoices_number on ${schema}.billing_invoices (account_id, mode, number)
  where number is not null`,
  `create index billing_invoices_subscription on ${schema}.billing_invoices (account_id, mode, subscription_id, id)
  where subscription_id is not null`,
  `create index billing_invoices_status on ${schema}.billing_invoices (account_id, mode, status, id)`,
  `create index billing_invoices_id on ${schema}.billing_invoices (account_id, mode, id)`,
  // Lines are written before an invoice that is issued at once, and refused afterwards. So the key is checked at commit.
  `create table ${schema}.billing_invoice_lines (
  ${accountAndMode},
  customer_id uuid not null,
  invoice_id uuid not null,
  position integer not null check (position >= 0),
  subscription_id uuid,
  line jsonb not null check (jsonb_typeof(line) = 'object'),
  ${word("id", "line ->> 'id'", " not null")},
  ${generated("origin_period", "integer", "(line -> 'origin' ->> 'period')::integer")},
  ${word("kind", "line ->> 'kind'", " not null check (kind in ('advance', 'usage', 'credit', 'adjustment', 'item', 'true_up'))")},
  ${amount("amount", "line ->> 'amount'")},
  ${amount("discount", "line ->> 'discount'", " check (discount >= 0)")},
  ${amount("net", "line ->> 'net'")},
  ${word("tax_category", "line -> 'tax' ->> 'category'", " not null")},
  ${generated("tax_rate", "numeric", "(line -> 'tax' ->> 'rate')::numeric", " not null check (tax_rate >= 0)")},
  ${word("tax_country", "line -> 'tax' ->> 'country'")},
  primary key (account_id, mode, customer_id, invoice_id, id),
  constraint billing_invoice_lines_origin check ((subscription_id is null) = (origin_period is null)),
  constraint billing_invoice_lines_invoice foreign key (account_id, mode, customer_id, invoice_id)
    references ${schema}.billing_invoices deferrable initially deferred
)`,
  `comment on column ${schema}.billing_invoice_lines.subscription_id is 'That of which the line bills a period.'`,
  `create index billing_invoice_lines_period
  on ${schema}.billing_invoice_lines (account_id, mode, subscription_id, origin_period)
  where origin_period is not null`,
  `create table ${schema}.billing_series (
  ${accountAndMode},
  name text collate "C" not null check (name in ('invoice', 'credit_note')),
  state jsonb check (jsonb_typeof(state) = 'object'),
  taken bigint not null default 0,
  issued bigint not null default 0,
  issued_until timestamptz(3) check (isfinite(issued_until)),
  primary key (account_id, mode, name)
) with (fillfactor = 50)`,
  `comment on column ${schema}.billing_series.taken is 'How many numbers were taken. A trigger counts them.'`,
  `comment on column ${schema}.billing_series.issued is
  'How many invoices have a number. A trigger counts them. At commit it is equal to taken.'`,
  `comment on column ${schema}.billing_series.issued_until is 'When the newest invoice was issued.'`,
]

const queue = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.billing_due (
  ${accountAndMode},
  kind text collate "C" not null check (kind in ('invoice', 'subscription')),
  id uuid not null,
  customer_id uuid not null,
  due_at timestamptz(3) not null check (isfinite(due_at)),
  attempts integer not null default 0 check (attempts >= 0),
  problem text,
  failed_at timestamptz(3) check (isfinite(failed_at)),
  retry_at timestamptz(3) check (isfinite(retry_at)),
  lease_token uuid,
  leased_until timestamptz(3) check (isfinite(leased_until)),
  primary key (account_id, mode, kind, id),
  constraint billing_due_failure check (
    (attempts = 0) = (problem is null) and (attempts = 0) = (failed_at is null) and (attempts > 0 or retry_at is null)
  ),
  constraint billing_due_lease check ((lease_token is null) = (leased_until is null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.2)`,
  `comment on table ${schema}.billing_due is
  'The queue of billing runs: subscriptions and invoices on which something will be due. One that has failed and has no retry_at is set aside.'`,
  `create index billing_due_first on ${schema}.billing_due (due_at, kind, id) where attempts = 0`,
  `create index billing_due_retry on ${schema}.billing_due (retry_at, due_at, kind, id) where retry_at is not null`,
  // Claims that go from tenant to tenant ask for nulls first. There are no nulls; but no other index has this order.
  `create index billing_due_tenant on ${schema}.billing_due (account_id, mode, due_at nulls first, kind, id)
  where attempts = 0 or retry_at is not null`,
]

const instantOf = (path: string): string =>
  `to_timestamp((s.state ->> '${path}')::float8 / 1000)::timestamptz(3)`

const views = (schema: SchemaName): ReadonlyArray<string> => [
  `create view ${schema}.subscriptions as
select s.account_id, s.mode, s.customer_id, s.id, s.phase, s.state -> 'plan' ->> 'key' as plan_key,
  (s.state -> 'plan' ->> 'version')::integer as plan_version, s.state ->> 'currency' as currency,
  s.state -> 'quantities' as quantities, ${instantOf("startAt")} as start_at, ${instantOf("trialEndAt")} as trial_end_at,
  ${instantOf("activatedAt")} as activated_at,
  to_timestamp((s.state -> 'period' ->> 'start')::float8 / 1000)::timestamptz(3) as period_start,
  to_timestamp((s.state -> 'period' ->> 'end')::float8 / 1000)::timestamptz(3) as period_end,
  ${instantOf("pausedAt")} as paused_at, ${instantOf("canceledAt")} as canceled_at, ${instantOf("endsAt")} as ends_at,
  ${instantOf("endedAt")} as ended_at, (s.state ->> 'sequence')::bigint as sequence, s.metadata, s.created_at, s.updated_at
from ${schema}.billing_subscriptions s`,
  `create view ${schema}.invoices as
select i.account_id, i.mode, i.customer_id, i.id, i.subscription_id, i.status, i.number, i.currency, i.period_start,
  i.period_end, i.subtotal, i.tax, i.total, i.amount_paid, i.amount_credited, i.amount_due, i.issued_at,
  i.payment_due_at as due_at, i.collection, i.sequence, i.created_at, i.updated_at
from ${schema}.billing_invoices i`,
  `create view ${schema}.invoice_lines as
select l.account_id, l.mode, l.customer_id, l.invoice_id, l.id, l.position, l.subscription_id, l.kind,
  l.line -> 'origin' -> 'plan' ->> 'key' as plan_key, l.line ->> 'charge' as charge, l.line ->> 'description' as description,
  to_timestamp((l.line ->> 'periodStart')::float8 / 1000)::timestamptz(3) as period_start,
  to_timestamp((l.line ->> 'periodEnd')::float8 / 1000)::timestamptz(3) as period_end, l.line ->> 'quantity' as quantity,
  l.amount, l.discount, l.net, l.tax_category, l.tax_rate, l.tax_country
from ${schema}.billing_invoice_lines l`,
  ...["subscriptions", "invoices", "invoice_lines"].map(
    (name) =>
      `comment on view ${schema}.${name} is 'For hosts to read and join: its columns stay. Amounts are in the minor unit.'`,
  ),
]

export const migration0005: Migration = {
  id: 5,
  name: "billing",
  minReader: 1,
  statements: (schema: SchemaName) => [
    ...subscriptions(schema),
    ...invoices(schema),
    ...queue(schema),
    ...billingRules(schema),
    ...views(schema),
  ],
}
