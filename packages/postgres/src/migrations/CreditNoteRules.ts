/**
 * What Postgres refuses by itself, whoever writes to the tables of credit notes.
 *
 * This file is frozen with the migration that uses it, as are `BillingRules.ts`, whose rules these continue.
 *
 * - `check_credit_notes`, at commit: the sums of each note are right; the notes of an invoice sum to what it says; none
 *   credits more of a line, of the total or of what was paid than there is; the tax that is left is that of what is left.
 * - `check_credit_note_lines`, at once: a note has all of its lines from the beginning, and they sum to it.
 * - `refuse_change_of_credit_note`, at once: a note and its lines never change.
 * - `count_credit_note` and `check_credit_note_series`: numbers are those of the series, without a gap, in the order of
 *   their instants.
 *
 * Messages contain no values, because they reach logs.
 */
import type { SchemaName } from "../SchemaName.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

const rounded = (above: string, below: string): string =>
  `sign(${above}) * div(2 * abs(${above}) + ${below}, 2 * ${below})`

const same = (a: string, b: string): string =>
  ["account_id", "mode", "customer_id"].map((name) => `${a}.${name} = ${b}.${name}`).join(" and ")

const taxesOf = (alias: string): string => `jsonb_array_elements(${alias}.state -> 'taxes') as t (tax)`

const sums = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.check_credit_notes() returns trigger ${SETTINGS} as $$
declare
  v_row jsonb := to_jsonb(new);
  v_invoice ${schema}.billing_invoices;
  v_notes record;
  v_has_wrong_note boolean;
  v_has_wrong_line boolean;
  v_has_wrong_tax boolean;
  v_problem text;
begin
  select i.* into v_invoice from ${schema}.billing_invoices i
  where ${same("i", "new")} and i.id = coalesce(v_row ->> 'invoice_id', v_row ->> 'id')::uuid;

  select count(*) as count, coalesce(sum(n.total), 0) as total, coalesce(sum(n.waived), 0) as waived,
    coalesce(sum(n.refund), 0) as refund, coalesce(bool_or(n.currency <> v_invoice.currency), false) as has_other_currency
  into v_notes from ${schema}.billing_credit_notes n where ${same("n", "v_invoice")} and n.invoice_id = v_invoice.id;

  select exists (
    select from ${schema}.billing_credit_notes n cross join lateral (
      select coalesce(sum((t.tax ->> 'amount')::numeric), 0) as tax, coalesce(sum((t.tax ->> 'taxable')::numeric), 0) as net
      from ${taxesOf("n")}
    ) as s
    where ${same("n", "v_invoice")} and n.invoice_id = v_invoice.id
      and (n.total <> n.net + n.tax or n.total <> n.waived + n.refund + n.to_balance or n.tax <> s.tax or n.net <> s.net)
  ) into v_has_wrong_note;

  with credited as (
    select c.line_id, sum(c.amount) as amount from ${schema}.billing_credit_note_lines c
    where ${same("c", "v_invoice")} and c.invoice_id = v_invoice.id group by 1
  )
  select exists (
    select from credited c left join ${schema}.billing_invoice_lines l
      on ${same("l", "v_invoice")} and l.invoice_id = v_invoice.id and l.id = c.line_id
    where l.id is null or sign(c.amount) * sign(l.amount - l.discount) < 0 or abs(c.amount) > abs(l.amount - l.discount)
  ) into v_has_wrong_line;

  with credited as (
    select c.line_id, sum(c.amount) as amount from ${schema}.billing_credit_note_lines c
    where ${same("c", "v_invoice")} and c.invoice_id = v_invoice.id group by 1
  ), left_of as (
    select l.tax_category as category, l.tax_rate as rate, coalesce(l.tax_country, '') as country,
      sum(l.amount - l.discount - coalesce(c.amount, 0)) as given
    from ${schema}.billing_invoice_lines l left join credited c on c.line_id = l.id
    where ${same("l", "v_invoice")} and l.invoice_id = v_invoice.id group by 1, 2, 3
  ), taxes as (
    select t.tax ->> 'category' as category, (t.tax ->> 'rate')::numeric as rate, coalesce(t.tax ->> 'country', '') as country,
      (t.tax ->> 'amount')::numeric as amount
    from ${taxesOf("v_invoice")}
    union all
    select t.tax ->> 'category', (t.tax ->> 'rate')::numeric, coalesce(t.tax ->> 'country', ''), -(t.tax ->> 'amount')::numeric
    from ${schema}.billing_credit_notes n cross join lateral ${taxesOf("n")}
    where ${same("n", "v_invoice")} and n.invoice_id = v_invoice.id
  ), rest as (
    select x.category, x.rate, x.country, sum(x.amount) as amount from taxes x group by 1, 2, 3
  )
  select exists (
    select from left_of l full join rest r on r.category = l.category and r.rate = l.rate and r.country = l.country
    where l.category is null or r.category is null or r.amount <>
      case v_invoice.state ->> 'taxBehavior'
        when 'exclusive' then round(l.given * l.rate * 0.01)
        else l.given - ${rounded("(l.given * 100)", "(100 + l.rate)")}
      end
  ) into v_has_wrong_tax;

  v_problem := case
    when v_invoice.amount_credited <> v_notes.total then 'the invoice says another amount'
    when v_invoice.amount_waived <> v_notes.waived then 'the invoice waived another amount'
    when v_notes.count = 0 then null
    when v_invoice.number is null then 'the invoice is a draft'
    when v_notes.has_other_currency then 'the currency is not that of the invoice'
    when v_has_wrong_note then 'a note is not the sum of its parts'
    when v_notes.total > v_invoice.total then 'more than the invoice is credited'
    when v_notes.refund > v_invoice.amount_paid then 'more than was paid is refunded'
    when v_has_wrong_line then 'more than a line is credited'
    when v_has_wrong_tax then 'the tax that is left is not that of what is left'
  end;
  if v_problem is not null then
    raise exception 'the sums of credit notes are wrong: %', v_problem
      using errcode = 'check_violation', table = 'billing_credit_notes', constraint = 'billing_credit_notes_sums';
  end if;
  return null;
end
$$`,
  `create constraint trigger billing_credit_notes_sums after insert on ${schema}.billing_credit_notes
deferrable initially deferred for each row execute function ${schema}.check_credit_notes()`,
  `create constraint trigger billing_invoices_credit_notes after update on ${schema}.billing_invoices
deferrable initially deferred for each row
when (old.amount_credited <> new.amount_credited or old.amount_waived <> new.amount_waived)
execute function ${schema}.check_credit_notes()`,
  `create constraint trigger billing_invoices_credit_notes_new after insert on ${schema}.billing_invoices
deferrable initially deferred for each row when (new.amount_credited <> 0 or new.amount_waived <> 0)
execute function ${schema}.check_credit_notes()`,
  `create function ${schema}.check_credit_note_lines() returns trigger ${SETTINGS} as $$
begin
  if exists (
    select from (select distinct a.account_id, a.mode, a.customer_id, a.credit_note_id from added a) as a
    left join ${schema}.billing_credit_notes n on ${same("n", "a")} and n.id = a.credit_note_id
    cross join lateral (
      select count(*) as count, sum(c.amount) as amount, bool_and(c.invoice_id = n.invoice_id) as is_of_invoice
      from ${schema}.billing_credit_note_lines c where ${same("c", "a")} and c.credit_note_id = a.credit_note_id
    ) as s
    where n.id is null or s.count <> n.line_count or s.is_of_invoice is not true
      or s.amount <> case n.state ->> 'taxBehavior' when 'exclusive' then n.net else n.total end
  ) then
    raise exception 'the lines of a credit note are not those that it was issued with'
      using errcode = 'check_violation', table = 'billing_credit_note_lines', constraint = 'billing_credit_note_lines_sum';
  end if;
  return null;
end
$$`,
  `create trigger billing_credit_note_lines_sum after insert on ${schema}.billing_credit_note_lines
referencing new table as added for each statement execute function ${schema}.check_credit_note_lines()`,
]

const changes = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.refuse_change_of_credit_note() returns trigger ${SETTINGS} as $$
begin
  raise exception 'a credit note can''t be changed or removed'
    using errcode = 'restrict_violation', table = tg_table_name, constraint = 'billing_credit_notes_are_final';
end
$$`,
  ...["billing_credit_notes", "billing_credit_note_lines"].map(
    (table) => `create trigger ${table}_are_final before update or delete or truncate on ${schema}.${table}
for each statement execute function ${schema}.refuse_change_of_credit_note()`,
  ),
]

const numbers = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.count_credit_note() returns trigger ${SETTINGS} as $$
declare
  v_series jsonb;
  v_format text;
  v_width integer;
  v_counter text;
  v_year integer;
begin
  update ${schema}.billing_series s set issued = s.issued + 1, issued_until = new.issued_at
  where s.account_id = new.account_id and s.mode = new.mode and s.name = 'credit_note'
    and coalesce(s.issued_until, '-infinity') <= new.issued_at;
  if not found then
    raise exception 'a credit note is issued without a series of numbers, or before the one with the number before'
      using errcode = 'check_violation', table = 'billing_series', constraint = 'billing_series_are_consecutive';
  end if;
  return null;
end
$$`,
  `create trigger billing_credit_notes_count after insert on ${schema}.billing_credit_notes
for each row execute function ${schema}.count_credit_note()`,
  `create function ${schema}.check_credit_note_series() returns trigger ${SETTINGS} as $$
declare
  v_account text := to_jsonb(new) ->> 'account_id';
  v_mode text := to_jsonb(new) ->> 'mode';
  v_series ${schema}.billing_series;
  v_format text;
  v_width integer;
  v_problem text;
begin
  select s.* into v_series from ${schema}.billing_series s
  where s.account_id = v_account and s.mode = v_mode and s.name = 'credit_note';
  v_format := replace(v_series.state ->> 'format', '.', '[.]');
  v_width := substring(v_format from '[{]number:([0-9]+)[}]');
  select case
      when v_counter is null or (char_length(v_counter) > v_width and v_counter like '0%')
        then 'it is not in the format of the series'
      when v_counter::numeric < 1 then 'it is less than 1'
      when v_year > (v_series.state ->> 'year')::integer then 'it is of a later year than the last one taken'
      when coalesce(v_year = (v_series.state ->> 'year')::integer, true)
        and v_counter::numeric > (v_series.state ->> 'last')::numeric then 'it is greater than the last one taken'
      when extract(epoch from n.issued_at) * 1000 > (v_series.state ->> 'lastIssuedAt')::numeric
        then 'it is issued later than the last one taken'
    end into v_problem
  from ${schema}.billing_credit_notes n
  cross join lateral (
    select substring(n.number from '^' || regexp_replace(replace(v_format, '{year}', '[0-9]{4}'),
        '[{]number:[0-9]+[}]', '([0-9]{' || v_width || ',})') || '$') as v_counter,
      case when strpos(v_format, '{year}') > 0 then
        substring(n.number from '^' || regexp_replace(replace(v_format, '{year}', '([0-9]{4})'),
          '[{]number:[0-9]+[}]', '[0-9]{' || v_width || ',}') || '$')::integer
      end as v_year
  ) as read
  where tg_table_name = 'billing_credit_notes' and n.account_id = v_account and n.mode = v_mode
    and n.customer_id = (to_jsonb(new) ->> 'customer_id')::uuid and n.id = (to_jsonb(new) ->> 'id')::uuid;
  if v_problem is not null then
    raise exception 'the number of a credit note is not one of its series: %', v_problem
      using errcode = 'check_violation', table = 'billing_credit_notes', constraint = 'billing_credit_notes_numbered';
  end if;
  if v_series.taken <> v_series.issued then
    raise exception 'the numbers of credit notes have a gap: not as many are issued as numbers are taken'
      using errcode = 'check_violation', table = 'billing_series', constraint = 'billing_series_are_consecutive';
  end if;
  return null;
end
$$`,
  `create constraint trigger billing_credit_notes_numbered after insert on ${schema}.billing_credit_notes
deferrable initially deferred for each row execute function ${schema}.check_credit_note_series()`,
  `create constraint trigger billing_series_of_credit_notes after insert or update on ${schema}.billing_series
deferrable initially deferred for each row when (new.name = 'credit_note')
execute function ${schema}.check_credit_note_series()`,
]

export const creditNoteRules = (schema: SchemaName): ReadonlyArray<string> => [
  ...sums(schema),
  ...changes(schema),
  ...numbers(schema),
]
