/**
 * The bill run as others would write it, on tables with the columns and indexes that it needs. Both baselines bill the
 * usage of the same roll-ups and write the same amounts, lines and events, without an explanation of the amounts.
 */
import type { Client, PoolClient } from "pg"
import { TAX_PERCENT } from "./BillRunWorld.ts"

/** The tables of the baselines. The lines have what ours have, but for the steps of the computation. */
export const TABLES = `
create schema hand;
create table hand.subscriptions (
  id uuid primary key, customer_id uuid not null, period_start timestamptz not null, period_end timestamptz not null
);
create index on hand.subscriptions (period_end);
create table hand.series (name text primary key, last bigint not null);
insert into hand.series values ('invoice', 0);
create table hand.invoices (
  id uuid primary key default gen_random_uuid(), customer_id uuid not null, subscription_id uuid not null,
  number text not null unique, status text not null, currency text not null, period_start timestamptz not null,
  period_end timestamptz not null, subtotal numeric(38) not null, tax numeric(38) not null, total numeric(38) not null,
  amount_due numeric(38) not null, issued_at timestamptz not null, due_at timestamptz not null,
  created_at timestamptz not null default now(), unique (subscription_id, period_end)
);
create index on hand.invoices (customer_id, created_at);
create table hand.lines (
  invoice_id uuid not null references hand.invoices, position integer not null, subscription_id uuid not null,
  kind text not null, charge text not null, description text not null, period_start timestamptz not null,
  period_end timestamptz not null, quantity numeric, amount numeric(38) not null, net numeric(38) not null,
  tax_category text not null, tax_rate numeric not null, primary key (invoice_id, position)
);
create index on hand.lines (subscription_id, period_start);
create table hand.events (
  id uuid primary key default gen_random_uuid(), type text not null, occurred_at timestamptz not null,
  customer_id uuid not null, payload text not null
);
create index on hand.events (customer_id, occurred_at);`

/** What both baselines bill: the charges of the plan of the benchmark, in cents and thousandths of a cent. */
const FEE = 2_000n
const FREE = 100n
const TIERS = [
  { upTo: 1_000n, price: 1_000n },
  { upTo: 5_000n, price: 500n },
  { upTo: undefined, price: 200n },
] as const
const TAX = BigInt(TAX_PERCENT)
const PACKAGE = { size: 100n, price: 25n }

/** The price of graduated usage in cents, halves up. */
const graduated = (quantity: bigint): bigint => {
  const billed = quantity > FREE ? quantity - FREE : 0n
  let sum = 0n
  let from = 0n
  for (const { price, upTo } of TIERS) {
    const to = upTo === undefined || billed < upTo ? billed : upTo
    if (to > from) sum += (to - from) * price
    from = to
  }
  return (sum + 500n) / 1_000n
}

/** The tax of an amount in cents, halves up. */
const taxOf = (amount: bigint): bigint => (amount * TAX + 50n) / 100n

const packages = (quantity: bigint): bigint => ((quantity + PACKAGE.size - 1n) / PACKAGE.size) * PACKAGE.price

interface Due {
  readonly id: string
  readonly customer_id: string
  readonly period_start: Date
  readonly period_end: Date
}

/** One subscription in a transaction of its own: locks it, totals its usage, prices it, writes all and moves it on. */
export const billOne = async (client: PoolClient, id: string, nextEnd: Date): Promise<void> => {
  await client.query("begin")
  const { rows: found } = await client.query<Due>(
    "select id, customer_id, period_start, period_end from hand.subscriptions where id = $1 for update",
    [id],
  )
  const { customer_id, period_end, period_start } = found[0]!
  const { rows: totals } = await client.query<{ quantity: string }>(
    `select coalesce(sum(quantity), 0)::text as quantity from billwright.usage_daily
where account_id = 'default' and mode = 'live' and customer_id = $1 and product_id = 'api' and unit = 'call'
  and day >= $2::timestamptz::date and day < $3::timestamptz::date`,
    [customer_id, period_start, period_end],
  )
  const quantity = BigInt(totals[0]!.quantity)
  const lines = [
    {
      kind: "usage",
      charge: "calls",
      from: period_start,
      to: period_end,
      quantity,
      amount: graduated(quantity),
    },
    {
      kind: "usage",
      charge: "blocks",
      from: period_start,
      to: period_end,
      quantity,
      amount: packages(quantity),
    },
    { kind: "advance", charge: "base", from: period_end, to: nextEnd, quantity: null, amount: FEE },
  ]
  const subtotal = lines.reduce((sum, { amount }) => sum + amount, 0n)
  const tax = taxOf(subtotal)
  const total = (subtotal + tax).toString()
  await client.query(
    "update hand.subscriptions set period_start = period_end, period_end = $2 where id = $1",
    [id, nextEnd],
  )
  const { rows: taken } = await client.query<{ last: string }>(
    "update hand.series set last = last + 1 where name = 'invoice' returning last::text",
  )
  const number = taken[0]!.last.padStart(6, "0")
  const { rows: made } = await client.query<{ id: string }>(
    `insert into hand.invoices (customer_id, subscription_id, number, status, currency, period_start, period_end, subtotal,
  tax, total, amount_due, issued_at, due_at)
values ($1, $2, $3, 'open', 'EUR', $4, $5, $6, $7, $8, $8, $5, $5::timestamptz + interval '14 days') returning id`,
    [customer_id, id, number, period_start, period_end, subtotal.toString(), tax.toString(), total],
  )
  await client.query(
    `insert into hand.lines (invoice_id, position, subscription_id, kind, charge, description, period_start, period_end,
  quantity, amount, net, tax_category, tax_rate)
select $1, l.n, $2, l.kind, l.charge, l.charge, l.period_start, l.period_end, l.quantity, l.amount, l.amount, 'S', ${TAX}
from unnest($3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::numeric[], $8::numeric[])
  with ordinality as l (kind, charge, period_start, period_end, quantity, amount, n)`,
    [
      made[0]!.id,
      id,
      lines.map(({ kind }) => kind),
      lines.map(({ charge }) => charge),
      lines.map(({ from }) => from),
      lines.map(({ to }) => to),
      lines.map((line) => line.quantity?.toString() ?? null),
      lines.map(({ amount }) => amount.toString()),
    ],
  )
  const invoice = {
    id: made[0]!.id,
    number,
    tax: tax.toString(),
    total,
    lines: lines.map(({ amount, charge }) => ({ charge, amount: String(amount) })),
  }
  const types = ["invoice.created", "subscription.renewed", "invoice.finalized"]
  await client.query(
    `insert into hand.events (type, occurred_at, customer_id, payload)
select e.type, $2, $3, e.payload from unnest($1::text[], $4::text[]) as e (type, payload)`,
    [types, period_end, customer_id, types.map((type) => JSON.stringify({ type, data: invoice }))],
  )
  await client.query("commit")
}

const span = (quantity: string, from: number, to: number | null): string =>
  `greatest(${to === null ? quantity : `least(${quantity}, ${to})`} - ${from}, 0)`

/** All subscriptions in one statement. */
export const billAll = async (client: Client, end: Date, nextEnd: Date): Promise<void> => {
  const billed = `greatest(u.quantity - ${FREE}, 0)`
  await client.query("begin")
  await client.query(
    `with due as materialized (
  select s.*, row_number() over (order by s.id) as n from hand.subscriptions s where s.period_end = $1
), taken as (
  update hand.series set last = last + (select count(*) from due) where name = 'invoice'
  returning last - (select count(*) from due) as before
), used as (
  select d.id, coalesce(sum(u.quantity), 0) as quantity
  from due d left join billwright.usage_daily u on u.account_id = 'default' and u.mode = 'live'
    and u.customer_id = d.customer_id and u.product_id = 'api' and u.unit = 'call'
    and u.day >= d.period_start::date and u.day < d.period_end::date
  group by d.id
), lines as materialized (
  select d.id as subscription_id, l.* from due d join used u on u.id = d.id cross join lateral (values
    (1, 'usage', 'calls', d.period_start, d.period_end, u.quantity,
      floor((${span(billed, 0, 1000)} * 1000 + ${span(billed, 1000, 5000)} * 500 + ${span(billed, 5000, null)} * 200
        + 500) / 1000)),
    (2, 'usage', 'blocks', d.period_start, d.period_end, u.quantity, ceil(u.quantity / ${PACKAGE.size}) * ${PACKAGE.price}),
    (3, 'advance', 'base', d.period_end, $2::timestamptz, null, ${FEE})
  ) as l (position, kind, charge, period_start, period_end, quantity, amount)
), invoices as (
  insert into hand.invoices (customer_id, subscription_id, number, status, currency, period_start, period_end, subtotal,
    tax, total, amount_due, issued_at, due_at)
  select d.customer_id, d.id, lpad((t.before + d.n)::text, 6, '0'), 'open', 'EUR', d.period_start, d.period_end, l.subtotal,
    l.tax, l.subtotal + l.tax, l.subtotal + l.tax, d.period_end, d.period_end + interval '14 days'
  from due d cross join taken t
  join (
    select subscription_id, sum(amount) as subtotal, round(sum(amount) * ${TAX} / 100) as tax from lines group by 1
  ) as l on l.subscription_id = d.id
  returning id, customer_id, subscription_id, number, tax, total, period_end
), written as (
  insert into hand.lines (invoice_id, position, subscription_id, kind, charge, description, period_start, period_end,
    quantity, amount, net, tax_category, tax_rate)
  select i.id, l.position, l.subscription_id, l.kind, l.charge, l.charge, l.period_start, l.period_end, l.quantity, l.amount,
    l.amount, 'S', ${TAX}
  from lines l join invoices i on i.subscription_id = l.subscription_id
), events as (
  insert into hand.events (type, occurred_at, customer_id, payload)
  select e.type, i.period_end, i.customer_id, json_build_object('type', e.type, 'data', json_build_object('id', i.id,
    'number', i.number, 'tax', i.tax, 'total', i.total, 'lines', l.lines))::text
  from invoices i
  join (
    select subscription_id, json_agg(json_build_object('charge', charge, 'amount', amount) order by position) as lines
    from lines group by 1
  ) as l on l.subscription_id = i.subscription_id
  cross join unnest(array['invoice.created', 'subscription.renewed', 'invoice.finalized']) as e (type)
)
update hand.subscriptions s set period_start = s.period_end, period_end = $2 from due d where s.id = d.id`,
    [end, nextEnd],
  )
  await client.query("commit")
}
