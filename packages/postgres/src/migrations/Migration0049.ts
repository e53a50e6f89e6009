/**
 * The journal of the books as views.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * Hosts read `journal`, `journal_schedule` and `receivable_aging`, whose columns stay. The views `billing_book_…` are internal.
 * In them, a day is its number: days since 1970 in UTC.
 *
 * An entry balances because the rules of the tables refuse documents that would not: an invoice is the sum of its lines and
 * taxes, a credit note and a payment are the sum of their parts.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const FIRST_DAY = "date '1970-01-01'"
const DAY_MILLIS = "86400000"

const OWNER = ["account_id", "mode", "customer_id"]
const same = (a: string, b: string): string =>
  OWNER.map((name) => `${a}.${name} = ${b}.${name}`).join(" and ")
const owner = (alias: string): string => OWNER.map((name) => `${alias}.${name}`).join(", ")

/** The number of the UTC day of an instant. */
const day = (at: string): string => `((${at} at time zone 'UTC')::date - ${FIRST_DAY})`

/** A fraction to the nearest integer, halves away from zero. The divisor is greater than 0. */
const rounded = (above: string, below: string): string =>
  `(sign(${above}) * div(2 * abs(${above}) + ${below}, 2 * ${below}))`

const columns = (schema: SchemaName): ReadonlyArray<string> => [
  `alter table ${schema}.billing_invoices
  add column voided_at timestamptz(3) check (isfinite(voided_at)),
  add column written_off_at timestamptz(3) check (isfinite(written_off_at))`,
  `comment on column ${schema}.billing_invoices.written_off_at is
  'When it was written off. It stays when the invoice is paid, until it is open again.'`,
]

/** Issued invoices. Those that an older release voided or wrote off have no instant of that: they last changed then. */
const invoices = (schema: SchemaName): string => `create view ${schema}.billing_book_invoices as
select ${owner("i")}, i.id, i.currency, i.total + i.credited - a.amount as due, a.amount - i.credited - l.net as liability,
  i.tax, ${day("i.issued_at")} as issued_on, i.issued_at,
  case i.status when 'void' then coalesce(i.voided_at, i.updated_at) end as voided_at,
  case i.status when 'uncollectible' then coalesce(i.written_off_at, i.updated_at) else i.written_off_at end as written_off_at
from ${schema}.billing_invoices i
cross join lateral (
  select coalesce(sum((a.applied ->> 'amount')::numeric), 0) as amount
  from jsonb_array_elements(i.state -> 'applied') as a (applied)
) as a
cross join lateral (
  select sum(l.net) as net from ${schema}.billing_invoice_lines l where ${same("l", "i")} and l.invoice_id = i.id
) as l
where i.status <> 'draft'`

/** What credit notes take off the net of lines: `netsOfNote`. */
const noteNets = (schema: SchemaName): string => {
  const group = `partition by ${owner("c")}, c.invoice_id, c.credit_note_id, c.line -> 'tax' ->> 'category',
    (c.line -> 'tax' ->> 'rate')::numeric, coalesce(c.line -> 'tax' ->> 'country', '')`
  return `create view ${schema}.billing_book_note_nets as
select ${owner("s")}, s.invoice_id, s.credit_note_id, s.line_id, s.issued_on,
  s.until - lag(s.until, 1, 0::numeric) over (
    partition by ${owner("s")}, s.invoice_id, s.credit_note_id, s.category, s.rate, s.country order by s.position
  ) as net
from (
  select c.*, case
      when c.seen = c.whole then c.taxable
      when c.whole = 0 then 0
      else ${rounded("c.taxable * c.seen * sign(c.whole)", "abs(c.whole)")}
    end as until
  from (
    select ${owner("c")}, c.invoice_id, c.credit_note_id, c.line_id, c.position, ${day("n.issued_at")} as issued_on, t.taxable,
      c.line -> 'tax' ->> 'category' as category, (c.line -> 'tax' ->> 'rate')::numeric as rate,
      coalesce(c.line -> 'tax' ->> 'country', '') as country,
      sum(c.amount) over (${group} order by c.position) as seen, sum(c.amount) over (${group}) as whole
    from ${schema}.billing_credit_note_lines c
    join ${schema}.billing_credit_notes n on ${same("n", "c")} and n.id = c.credit_note_id
    cross join lateral (
      select (t.tax ->> 'taxable')::numeric as taxable from jsonb_array_elements(n.state -> 'taxes') as t (tax)
      where t.tax ->> 'category' = c.line -> 'tax' ->> 'category'
        and (t.tax ->> 'rate')::numeric = (c.line -> 'tax' ->> 'rate')::numeric
        and coalesce(t.tax ->> 'country', '') = coalesce(c.line -> 'tax' ->> 'country', '')
    ) as t
  ) as c
) as s`
}

/** What of a line is served by the end of a day, less what was served before. */
const recognized = (schema: SchemaName): string => `create view ${schema}.billing_book_recognized as
select ${owner("s")}, s.invoice_id, s.day,
  s.served - lag(s.served, 1, 0::numeric) over (partition by ${owner("s")}, s.invoice_id, s.line_id order by s.day) as amount
from (
  select ${owner("i")}, i.id as invoice_id, l.id as line_id, d.day, case
      when l.period_end is null or l.period_end <= l.period_start or x.day_end >= l.period_end then x.net
      when x.day_end <= l.period_start then 0
      else ${rounded("x.net * (x.day_end - l.period_start)", "(l.period_end - l.period_start)")}
    end as served
  from ${schema}.billing_book_invoices i
  join lateral (
    select l.id, l.net, (l.line ->> 'periodStart')::numeric as period_start, (l.line ->> 'periodEnd')::numeric as period_end
    from ${schema}.billing_invoice_lines l where ${same("l", "i")} and l.invoice_id = i.id and l.kind <> 'top_up'
  ) as l on true
  cross join lateral (
    select i.issued_on as day
    union
    select ${day("n.issued_at")} from ${schema}.billing_credit_notes n where ${same("n", "i")} and n.invoice_id = i.id
    union
    select generate_series(
      greatest(i.issued_on, floor(l.period_start / ${DAY_MILLIS})::integer), floor((l.period_end - 1) / ${DAY_MILLIS})::integer
    )
  ) as d
  cross join lateral (
    select (d.day + 1) * ${DAY_MILLIS}::numeric as day_end, l.net - coalesce((
      select sum(n.net) from ${schema}.billing_book_note_nets n
      where ${same("n", "i")} and n.invoice_id = i.id and n.line_id = l.id and n.issued_on <= d.day
    ), 0) as net
  ) as x
  where d.day >= i.issued_on and (i.voided_at is null or d.day < ${day("i.voided_at")})
) as s`

/** Money that went back, and what invoices are not paid with any more. */
const moneyBack = (schema: SchemaName): string => `create view ${schema}.billing_book_money_back as
select ${owner("r")}, r.invoice_id, r.id, 'refund' as kind, r.amount, r.reversed, r.succeeded_at as at,
  case r.status when 'failed' then r.updated_at end as returned_at,
  case when r.credit_note_id is null then 'contract_liability' else 'refunds_payable' end as owed
from ${schema}.refunds r where r.succeeded_at is not null
union all
select ${owner("d")}, d.invoice_id, d.id, 'dispute', d.amount, d.reversed, coalesce(d.closed_at, d.updated_at),
  case when d.status <> 'lost' then coalesce(d.closed_at, d.updated_at) end, 'contract_liability'
from ${schema}.disputes d where d.status = 'lost' or d.reversed <> 0`

/** Paid credits that cost money, and what is used and gone of them by the end of each day. */
const grants = (schema: SchemaName): string => {
  const uses = "'consume', 'commit', 'repay', 'apply', 'restore', 'burn', 'adjust'"
  const so = `over (partition by ${owner("d")}, d.id order by d.day)`
  return `create view ${schema}.billing_book_grants as
select ${owner("e")}, e.id, e.day, e.currency, e.granted,
  e.of_used - e.applied - lag(e.of_used - e.applied, 1, 0::numeric) over w as revenue,
  e.of_gone - e.of_used - lag(e.of_gone - e.of_used, 1, 0::numeric) over w as breakage
from (
  select ${owner("t")}, t.id, t.day, t.currency, t.granted, t.applied,
    ${rounded("t.price * t.used", "t.amount")} as of_used, ${rounded("t.price * (t.used + t.ended)", "t.amount")} as of_gone
  from (
    select ${owner("d")}, d.id, d.day, d.currency, d.amount, d.granted, sum(d.used) ${so} as used,
      sum(d.applied) ${so} as applied, sum(d.ended) ${so} as ended, d.price - coalesce((
        select sum(n.net) from ${schema}.billing_book_note_nets n
        where ${same("n", "d")} and n.invoice_id = d.invoice_id and n.line_id = d.line_id and n.issued_on <= d.day
      ), 0) as price
    from (
      select ${owner("g")}, g.id, g.currency, g.amount, g.price, g.invoice_id, g.line_id, e.day,
        sum(e.used) as used, sum(e.applied) as applied, sum(e.ended) as ended, sum(e.granted) as granted
      from (
        select ${owner("g")}, g.id, g.unit, g.amount, l.invoice_id, l.line_id, coalesce(l.currency, g.unit) as currency,
          coalesce(l.net, g.amount) as price, g.source_type is not null as is_booked
        from ${schema}.billing_credit_grants g
        left join lateral (
          select l.invoice_id, l.id as line_id, l.net, i.currency from ${schema}.billing_invoice_lines l
          join ${schema}.billing_invoices i on ${same("i", "l")} and i.id = l.invoice_id
          where ${same("l", "g")} and l.invoice_id = g.source_id and l.kind = 'top_up' and g.source_type = 'invoice'
        ) as l on true
        where g.kind = 'paid' and (g.unit ~ '^[A-Z]{3}$' or l.line_id is not null)
      ) as g
      cross join lateral (
        select ${day("e.at")} as day, case when e.kind in (${uses}) then -e.change else 0 end as used,
          case when e.kind in ('apply', 'restore') and g.unit = g.currency then -e.change else 0 end as applied,
          case when e.kind = 'expire' or e.kind = 'void' and g.is_booked then -e.change else 0 end as ended,
          case when not g.is_booked and e.kind in ('grant', 'void') then e.change else 0 end as granted
        from (
          select c.at, c.kind, c.available + c.scoped + c.held as change from ${schema}.billing_credit_entries c
          where ${same("c", "g")} and c.unit = g.unit and c.grant_id = g.id
        ) as e
        union all
        select n.issued_on, 0, 0, 0, 0 from ${schema}.billing_book_note_nets n
        where ${same("n", "g")} and n.invoice_id = g.invoice_id and n.line_id = g.line_id
      ) as e
      group by ${owner("g")}, g.id, g.currency, g.amount, g.price, g.invoice_id, g.line_id, e.day
    ) as d
  ) as t
) as e
window w as (partition by ${owner("e")}, e.id order by e.day)`
}

/** Where what is due of an invoice is booked at an instant. */
const dueAccount = (at: string): string =>
  `case when ${at} > i.written_off_at then 'bad_debt' else 'receivable' end`

/** One kind of entry: from which rows, and its accounts with their amounts. */
const movements = (
  schema: SchemaName,
  kind: string,
  id: string,
  at: string,
  from: string,
  amounts: ReadonlyArray<readonly [account: string, amount: string]>,
): string => `select ${owner("i")}, ${at} as day, ${kind} as kind, ${id} as document_id, i.id as invoice_id, i.currency,
    a.account, a.amount
  from ${schema}.billing_book_invoices i ${from}
  cross join lateral (values ${amounts.map(([account, amount]) => `(${account}, ${amount})`).join(", ")}) as a (account, amount)`

const schedule = (schema: SchemaName): string => {
  const of = (table: string, alias: string): string =>
    `join ${schema}.${table} ${alias} on ${same(alias, "i")} and ${alias}.invoice_id = i.id`
  const { moneyTable, payments, notes } = {
    moneyTable: of("billing_book_money_back", "r"),
    payments: `${of("billing_payments", "p")} and p.status = 'succeeded'`,
    notes: of("billing_credit_notes", "n"),
  }
  const sumOf = (amount: string, table: string, at: string): string =>
    `coalesce((select sum(x.${amount}) from ${schema}.${table} x
      where ${same("x", "i")} and x.invoice_id = i.id and x.${at} <= i.written_off_at), 0)`
  const writtenOff = `i.due - ${sumOf("applied", "billing_payments", "paid_at")}
    - ${sumOf("waived", "billing_credit_notes", "issued_at")} + ${sumOf("reversed", "billing_book_money_back", "at")}`
  const parts = [
    movements(schema, "'invoice'", "i.id", "i.issued_on", "", [
      ["'receivable'", "i.due"],
      ["'contract_liability'", "i.liability"],
      ["'tax_payable'", "-i.tax"],
    ]),
    movements(schema, "'credit_note'", "n.id", day("n.issued_at"), notes, [
      ["'contract_liability'", "n.net - n.to_balance"],
      ["'tax_payable'", "n.tax"],
      ["'refunds_payable'", "-n.refund"],
      [dueAccount("n.issued_at"), "-n.waived"],
    ]),
    movements(schema, "'payment'", "p.id", day("p.paid_at"), payments, [
      ["'cash'", "p.amount"],
      ["'contract_liability'", "-p.overpaid"],
      [dueAccount("p.paid_at"), "-p.applied"],
    ]),
    movements(schema, "r.kind", "r.id", day("r.at"), moneyTable, [
      ["'cash'", "-r.amount"],
      ["r.owed", "r.amount - r.reversed"],
      [dueAccount("r.at"), "r.reversed"],
    ]),
    movements(schema, "r.kind", "r.id", day("r.returned_at"), `${moneyTable} and r.returned_at is not null`, [
      ["'cash'", "r.amount"],
      ["r.owed", "-r.amount"],
    ]),
    movements(
      schema,
      "'write_off'",
      "i.id",
      day("i.written_off_at"),
      `join lateral (select ${writtenOff} as amount) as w on i.written_off_at is not null`,
      [
        ["'bad_debt'", "w.amount"],
        ["'receivable'", "-w.amount"],
      ],
    ),
    movements(schema, "'recognition'", "i.id", "r.day", of("billing_book_recognized", "r"), [
      ["'contract_liability'", "r.amount"],
      ["'revenue'", "-r.amount"],
    ]),
    movements(
      schema,
      "'void'",
      "i.id",
      day("i.voided_at"),
      `join lateral (
    select coalesce(sum(r.amount), 0) as amount from ${schema}.billing_book_recognized r
    where ${same("r", "i")} and r.invoice_id = i.id
  ) as r on i.voided_at is not null`,
      [
        [dueAccount("i.voided_at"), "-i.due"],
        ["'contract_liability'", "-i.liability - r.amount"],
        ["'tax_payable'", "i.tax"],
        ["'revenue'", "r.amount"],
      ],
    ),
    `select ${owner("g")}, g.day, a.kind, g.id, null::uuid, g.currency, a.account, a.amount
  from ${schema}.billing_book_grants g cross join lateral (values
    ('grant', 'clearing', g.granted), ('grant', 'contract_liability', -g.granted),
    ('credit_use', 'contract_liability', g.revenue), ('credit_use', 'revenue', -g.revenue),
    ('breakage', 'contract_liability', g.breakage), ('breakage', 'breakage', -g.breakage)
  ) as a (kind, account, amount)`,
  ]
  return `create view ${schema}.journal_schedule as
select ${owner("m")}, ${FIRST_DAY} + m.day as day, m.kind, m.document_id, m.invoice_id, m.currency, m.account,
  sum(m.amount) as amount
from (
  ${parts.join("\n  union all\n  ")}
) as m
group by ${owner("m")}, m.day, m.kind, m.document_id, m.invoice_id, m.currency, m.account
having sum(m.amount) <> 0`
}

const journal = (schema: SchemaName): ReadonlyArray<string> => [
  `create view ${schema}.journal as
select j.* from ${schema}.journal_schedule j where j.day <= (now() at time zone 'UTC')::date`,
  `create view ${schema}.receivable_aging as
select ${owner("i")}, i.currency, sum(i.amount_due) as amount,
  coalesce(sum(i.amount_due) filter (where d.days <= 0), 0) as not_due,
  coalesce(sum(i.amount_due) filter (where d.days between 1 and 30), 0) as days_1_to_30,
  coalesce(sum(i.amount_due) filter (where d.days between 31 and 60), 0) as days_31_to_60,
  coalesce(sum(i.amount_due) filter (where d.days between 61 and 90), 0) as days_61_to_90,
  coalesce(sum(i.amount_due) filter (where d.days > 90), 0) as days_over_90
from ${schema}.billing_invoices i
cross join lateral (
  select ${day("now()")} - ${day("i.payment_due_at")} as days
) as d
where i.status = 'open'
group by ${owner("i")}, i.currency`,
  ...[
    ["journal", "Double entry, a row for each posting to the end of today in UTC: a debit is above 0."],
    ["journal_schedule", "The journal with what will be recognized of issued invoices in the future."],
    ["receivable_aging", "What is due of open invoices, by how many days its due date is over in UTC."],
  ].map(
    ([name, about]) =>
      `comment on view ${schema}.${name} is '${about} Its columns stay. Amounts are in the minor unit.'`,
  ),
]

export const migration0049: Migration = {
  id: 49,
  name: "journal",
  minReader: 1,
  statements: (schema: SchemaName) => [
    ...columns(schema),
    invoices(schema),
    noteNets(schema),
    recognized(schema),
    moneyBack(schema),
    grants(schema),
    schedule(schema),
    ...journal(schema),
  ],
}
