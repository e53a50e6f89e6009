/**
 * Issued invoices are checked once for each statement, and not once for each row.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * A billing run issues many invoices with one statement. Of these, the checks took a quarter of the time of Postgres.
 * Nothing that was refused is allowed now:
 *
 * - `check_issued_sums`, at once: what `check_invoice_sums` checks, for invoices that are issued. Their lines are written
 *   before, and are refused afterwards, so there is nothing to wait for. Drafts are still checked at commit.
 * - `check_issued_numbers`, at once: what `count_issued_invoice` and `check_invoice_number` check. In live mode, also that
 *   invoices that are issued by one statement have their numbers in the order of their instants.
 * - Lines and periods belong to an invoice or a subscription of the same account and mode, by their keys. So the form of
 *   an account is checked there, and not again in each line and period.
 *
 * Each invoice is looked at by itself (`lateral`). A plan that joins all of them could be made for one invoice, and then
 * be used for thousands.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

const OF_INVOICE =
  "l.account_id = i.account_id and l.mode = i.mode and l.customer_id = i.customer_id and l.invoice_id = i.id"

/** Rounds `above / below` half away from zero, exactly: a quotient of numerics may be cut off. */
const rounded = (above: string, below: string): string =>
  `sign(${above}) * div(2 * abs(${above}) + ${below}, 2 * ${below})`

const wrongDiscount = (schema: SchemaName): string => `exists (
        with parts as (
          select d.n, d.discount, p.part from jsonb_array_elements(i.state -> 'discounts') with ordinality as d (discount, n)
          left join lateral jsonb_array_elements(d.discount -> 'parts') as p (part) on true
        ), by_line as (
          select p.part ->> 'lineId' as line_id, sum((p.part ->> 'amount')::numeric) as amount
          from parts p where p.part is not null group by 1
        )
        select from (
          select from parts p group by p.n, p.discount
          having coalesce(sum((p.part ->> 'amount')::numeric), 0) <> (p.discount ->> 'amount')::numeric
        ) as unequal
        union all
        select from (
          select l.id, l.discount from ${schema}.billing_invoice_lines l where ${OF_INVOICE}
        ) as l full join by_line b on b.line_id = l.id
        where l.id is null or l.discount <> coalesce(b.amount, 0)
      )`

const wrongTax = (schema: SchemaName): string => `exists (
        with taxes as (
          select t.tax ->> 'category' as category, (t.tax ->> 'rate')::numeric as rate,
            coalesce(t.tax ->> 'country', '') as country, (t.tax ->> 'taxable')::numeric as taxable,
            (t.tax ->> 'amount')::numeric as amount
          from jsonb_array_elements(i.state -> 'taxes') as t (tax)
        ), by_rate as (
          select l.tax_category as category, l.tax_rate as rate, coalesce(l.tax_country, '') as country,
            sum(l.amount - l.discount) as given, sum(l.net) as net
          from ${schema}.billing_invoice_lines l where ${OF_INVOICE} group by 1, 2, 3
        )
        select from (
          select from taxes t group by t.category, t.rate, t.country having count(*) > 1
        ) as twice
        union all
        select from taxes t full join by_rate r on r.category = t.category and r.rate = t.rate and r.country = t.country
        where t.category is null or r.category is null or t.taxable <> r.net or t.amount <>
          case i.state ->> 'taxBehavior'
            when 'exclusive' then round(r.given * r.rate * 0.01)
            else r.given - ${rounded("(r.given * 100)", "(100 + r.rate)")}
          end
      )`

const sums = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.check_issued_sums() returns trigger ${SETTINGS} as $$
declare
  v_problem text;
begin
  select p.problem into v_problem from changed i cross join lateral (
    select count(*) as count, coalesce(sum(l.amount), 0) as amount, coalesce(sum(l.net), 0) as net,
      coalesce(sum(l.discount), 0) as discount
    from ${schema}.billing_invoice_lines l where ${OF_INVOICE}
  ) as lines cross join lateral (
    select coalesce(sum((t.tax ->> 'amount')::numeric), 0) as amount from jsonb_array_elements(i.state -> 'taxes') as t (tax)
  ) as taxes cross join lateral (
    select coalesce(sum((a.applied ->> 'amount')::numeric), 0) as amount
    from jsonb_array_elements(i.state -> 'applied') as a (applied)
  ) as applied cross join lateral (
    select case
      when lines.count = 0 then 'it has no lines'
      when i.subtotal <> lines.amount then 'the subtotal is not the sum of the lines'
      when lines.discount <> 0 and i.state -> 'discounts' = '[]' then 'the discounts are not those of the lines'
      when i.state -> 'discounts' is distinct from '[]' and ${wrongDiscount(schema)}
      then 'the discounts are not those of the lines'
      when ${wrongTax(schema)}
      then 'the taxes are not those of the lines'
      when i.tax <> taxes.amount then 'the tax is not the sum of the taxes'
      when i.total <> lines.net + i.tax then 'the total is not the sum of the net amounts and the tax'
      when i.amount_due <> case i.status when 'void' then 0 else i.total + i.credited - applied.amount - i.amount_paid
          - i.amount_waived end
        then 'the amount due is not what is left to pay'
    end as problem
  ) as p
  where i.status <> 'draft' and p.problem is not null limit 1;
  if v_problem is not null then
    raise exception 'the sums of an invoice are wrong: %', v_problem
      using errcode = 'check_violation', table = 'billing_invoices', constraint = 'billing_invoices_sums';
  end if;
  return null;
end
$$`,
  `drop trigger billing_invoices_sums on ${schema}.billing_invoices`,
  `create constraint trigger billing_invoices_sums after insert or update on ${schema}.billing_invoices
deferrable initially deferred for each row when (new.status = 'draft') execute function ${schema}.check_invoice_sums()`,
  `create trigger billing_invoices_issued_sums_new after insert on ${schema}.billing_invoices
referencing new table as changed for each statement execute function ${schema}.check_issued_sums()`,
  `create trigger billing_invoices_issued_sums after update on ${schema}.billing_invoices
referencing new table as changed for each statement execute function ${schema}.check_issued_sums()`,
]

/** The pattern of a number, with one part of it as the group that `substring` gives. */
const pattern = (year: string, counter: string): string =>
  `'^' || regexp_replace(replace(f.format, '{year}', '${year}'), '[{]number:[0-9]+[}]', ${counter}) || '$'`

const numbers = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.check_issued_numbers() returns trigger ${SETTINGS} as $$
declare
  v_accounts text[];
  v_modes text[];
  v_numbers text[];
  v_instants timestamptz[];
  v_is_wrong boolean;
  v_problem text;
begin
  if tg_op = 'INSERT' then
    select array_agg(c.account_id), array_agg(c.mode), array_agg(c.number), array_agg(c.issued_at)
    into v_accounts, v_modes, v_numbers, v_instants from changed c where c.number is not null;
  else
    select array_agg(c.account_id), array_agg(c.mode), array_agg(c.number), array_agg(c.issued_at)
    into v_accounts, v_modes, v_numbers, v_instants from (
      select a.account_id, a.mode, a.customer_id, a.id, a.number, a.issued_at from changed a where a.number is not null
      except
      select b.account_id, b.mode, b.customer_id, b.id, b.number, b.issued_at from before b where b.number is not null
    ) as c;
  end if;
  if v_numbers is null then return null; end if;

  with issued as (
    select n.account_id, n.mode, count(*) as count, min(n.issued_at) as first_at, max(n.issued_at) as last_at
    from unnest(v_accounts, v_modes, v_instants) as n (account_id, mode, issued_at) group by 1, 2
  ), counted as (
    update ${schema}.billing_series s set issued = s.issued + i.count,
      issued_until = case i.mode when 'live' then i.last_at else s.issued_until end
    from issued i
    where s.account_id = i.account_id and s.mode = i.mode and s.name = 'invoice'
      and (i.mode = 'test' or coalesce(s.issued_until, '-infinity') <= i.first_at)
    returning 1
  )
  select (select count(*) from issued) <> (select count(*) from counted) into v_is_wrong;
  if v_is_wrong then
    raise exception 'an invoice is issued without a series of numbers, or before the one with the number before'
      using errcode = 'check_violation', table = 'billing_series', constraint = 'billing_series_are_consecutive';
  end if;

  with series as materialized (
    select s.account_id, s.mode, s.state, s.state ->> 'format' as given, f.format, f.width,
      ${pattern("[0-9]{4}", "'([0-9]{' || f.width || ',})'")} as counters,
      case when strpos(f.format, '{year}') > 0
        then ${pattern("([0-9]{4})", "'[0-9]{' || f.width || ',}'")} end as years
    from ${schema}.billing_series s
    cross join lateral (
      select replace(s.state ->> 'format', '.', '[.]') as format,
        substring(s.state ->> 'format' from '[{]number:([0-9]+)[}]')::integer as width
    ) as f
    where s.name = 'invoice' and (s.account_id, s.mode) in (
      select n.account_id, n.mode from unnest(v_accounts, v_modes) as n (account_id, mode)
    )
  ), parts as materialized (
    select n.mode, n.issued_at, s.account_id, s.state, s.width, substring(n.number from s.counters) as counter,
      substring(n.number from s.years)::integer as year
    from unnest(v_accounts, v_modes, v_numbers, v_instants) as n (account_id, mode, number, issued_at)
    cross join lateral (
      select s.* from series s where s.account_id = n.account_id and s.mode = n.mode
    ) as s
  ), ordered as (
    select p.*, lag(p.issued_at) over (partition by p.account_id, p.mode order by p.year, p.counter::numeric) as before_at
    from parts p
  )
  select p.problem into v_problem from (
    select case
      when o.counter is null then 'it is not in the format of the series'
      when char_length(o.counter) > o.width and o.counter like '0%' then 'it is not in the format of the series'
      when o.counter::numeric < 1 then 'it is less than 1'
      when o.year > (o.state ->> 'year')::integer then 'it is of a later year than the last one taken'
      when coalesce(o.year = (o.state ->> 'year')::integer, true) and o.counter::numeric > (o.state ->> 'last')::numeric
        then 'it is greater than the last one taken'
      when o.mode = 'live' and extract(epoch from o.issued_at) * 1000 > (o.state ->> 'lastIssuedAt')::numeric
        then 'it is issued later than the last one taken'
      when o.mode = 'live' and o.before_at > o.issued_at then 'it is issued before the one with the number before'
    end as problem from ordered o
  ) as p
  where p.problem is not null limit 1;
  if v_problem is not null then
    raise exception 'the number of an invoice is not one of its series: %', v_problem
      using errcode = 'check_violation', table = 'billing_invoices', constraint = 'billing_invoices_numbered';
  end if;
  return null;
end
$$`,
  ...["count_issued_invoice", "check_invoice_number"].flatMap((name) => [
    `drop trigger billing_invoices_${name}_new on ${schema}.billing_invoices`,
    `drop trigger billing_invoices_${name} on ${schema}.billing_invoices`,
    `drop function ${schema}.${name}()`,
  ]),
  `create trigger billing_invoices_issued_numbers_new after insert on ${schema}.billing_invoices
referencing new table as changed for each statement execute function ${schema}.check_issued_numbers()`,
  `create trigger billing_invoices_issued_numbers after update on ${schema}.billing_invoices
referencing old table as before new table as changed for each statement execute function ${schema}.check_issued_numbers()`,
]

const accounts = (schema: SchemaName): ReadonlyArray<string> =>
  ["billing_invoice_lines", "billing_periods"].map(
    (table) => `alter table ${schema}.${table} drop constraint ${table}_account_id_check`,
  )

export const migration0022: Migration = {
  id: 22,
  name: "issued_at_once",
  minReader: 1,
  statements: (schema: SchemaName) => [...sums(schema), ...numbers(schema), ...accounts(schema)],
}
