/**
 * What Postgres refuses by itself, whoever writes to the tables of invoices.
 *
 * This file is frozen with the migration that uses it. The triggers need their functions, so the functions are as frozen
 * as the tables.
 *
 * - `check_invoice_sums`, at commit: lines, discounts and taxes give the amounts of the invoice.
 * - `check_invoice_number`, at commit: a new number is one that the series has taken, in its format.
 * - `check_series`, at commit: as many invoices have a number as numbers were taken. Numbers are unique and not greater
 *   than the last one taken, so there is no gap.
 * - `count_issued_invoice`, at once: invoices are issued in the order of their instants.
 * - `count_taken_numbers`, at once: a series only goes forward.
 * - `refuse_change_of_invoice`, at once: of an issued invoice, only payments, status and credit notes change.
 * - `note_change_of_lines`, at once: writing lines changes their invoice, so the two rules above hold for lines, too.
 *
 * Messages contain no values, because they reach logs.
 */
import type { SchemaName } from "../SchemaName.ts"

/** The fields that change after an invoice is issued: those that the port of invoices names. */
const CHANGING = `'{status, amountPaid, amountCredited, amountWaived, amountDue, collection, availableActions, sequence}'::text[]`

// The tables may be empty when the plan of a session is made, and long when it is used.
const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

/** Rounds `above / below` half away from zero, exactly: a quotient of numerics may be cut off. */
const rounded = (above: string, below: string): string =>
  `sign(${above}) * div(2 * abs(${above}) + ${below}, 2 * ${below})`

const invoiceKey = (a: string, b: string): string =>
  ["account_id", "mode", "customer_id"].map((name) => `${a}.${name} = ${b}.${name}`).join(" and ")

const sums = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.check_invoice_sums() returns trigger ${SETTINGS} as $$
declare
  v_invoice ${schema}.billing_invoices;
  v_lines record;
  v_taxes record;
  v_has_wrong_discount boolean;
  v_has_wrong_tax boolean;
  v_applied numeric;
  v_problem text;
begin
  select i.* into v_invoice from ${schema}.billing_invoices i where ${invoiceKey("i", "new")} and i.id = new.id;
  if not found then return null; end if;

  select count(*) as count, coalesce(sum(l.amount), 0) as amount, coalesce(sum(l.net), 0) as net
  into v_lines from ${schema}.billing_invoice_lines l where ${invoiceKey("l", "v_invoice")} and l.invoice_id = v_invoice.id;

  with parts as (
    select d.n, d.discount, p.part from jsonb_array_elements(v_invoice.state -> 'discounts') with ordinality as d (discount, n)
    left join lateral jsonb_array_elements(d.discount -> 'parts') as p (part) on true
  ), by_line as (
    select p.part ->> 'lineId' as line_id, sum((p.part ->> 'amount')::numeric) as amount
    from parts p where p.part is not null group by 1
  )
  select exists (
    select from parts p group by p.n, p.discount
    having coalesce(sum((p.part ->> 'amount')::numeric), 0) <> (p.discount ->> 'amount')::numeric
  ) or exists (
    select from (
      select l.id, l.discount from ${schema}.billing_invoice_lines l
      where ${invoiceKey("l", "v_invoice")} and l.invoice_id = v_invoice.id
    ) as l full join by_line b on b.line_id = l.id
    where l.id is null or l.discount <> coalesce(b.amount, 0)
  ) into v_has_wrong_discount;

  with taxes as (
    select t.tax ->> 'category' as category, (t.tax ->> 'rate')::numeric as rate, coalesce(t.tax ->> 'country', '') as country,
      (t.tax ->> 'taxable')::numeric as taxable, (t.tax ->> 'amount')::numeric as amount
    from jsonb_array_elements(v_invoice.state -> 'taxes') as t (tax)
  ), by_rate as (
    select l.tax_category as category, l.tax_rate as rate, coalesce(l.tax_country, '') as country,
      sum(l.amount - l.discount) as given, sum(l.net) as net
    from ${schema}.billing_invoice_lines l
    where ${invoiceKey("l", "v_invoice")} and l.invoice_id = v_invoice.id group by 1, 2, 3
  )
  select (select count(*) from taxes) <> (select count(*) from (select distinct t.category, t.rate, t.country from taxes t) as t)
    or exists (
      select from taxes t full join by_rate r on r.category = t.category and r.rate = t.rate and r.country = t.country
      where t.category is null or r.category is null or t.taxable <> r.net or t.amount <>
        case v_invoice.state ->> 'taxBehavior'
          when 'exclusive' then round(r.given * r.rate * 0.01)
          else r.given - ${rounded("(r.given * 100)", "(100 + r.rate)")}
        end
    ) into v_has_wrong_tax;
  select coalesce(sum((t.tax ->> 'amount')::numeric), 0) as amount into v_taxes
  from jsonb_array_elements(v_invoice.state -> 'taxes') as t (tax);
  select coalesce(sum((a.applied ->> 'amount')::numeric), 0) into v_applied
  from jsonb_array_elements(v_invoice.state -> 'applied') as a (applied);

  v_problem := case
    when v_lines.count = 0 then 'it has no lines'
    when v_invoice.subtotal <> v_lines.amount then 'the subtotal is not the sum of the lines'
    when v_has_wrong_discount then 'the discounts are not those of the lines'
    when v_has_wrong_tax then 'the taxes are not those of the lines'
    when v_invoice.tax <> v_taxes.amount then 'the tax is not the sum of the taxes'
    when v_invoice.total <> v_lines.net + v_invoice.tax then 'the total is not the sum of the net amounts and the tax'
    when v_invoice.amount_due <> case v_invoice.status when 'void' then 0 else v_invoice.total + v_invoice.credited
        - v_applied - v_invoice.amount_paid - v_invoice.amount_waived end
      then 'the amount due is not what is left to pay'
  end;
  if v_problem is not null then
    raise exception 'the sums of an invoice are wrong: %', v_problem
      using errcode = 'check_violation', table = 'billing_invoices', constraint = 'billing_invoices_sums';
  end if;
  return null;
end
$$`,
  `create constraint trigger billing_invoices_sums after insert or update on ${schema}.billing_invoices
deferrable initially deferred for each row execute function ${schema}.check_invoice_sums()`,
]

/**
 * Makes the function, or makes it anew. `fixed` are the columns that may be null and don't change after an invoice is
 * issued, besides those that are never null.
 */
export const refuseChangeOfInvoice = (
  schema: SchemaName,
  make: "create function" | "create or replace function",
  fixed: ReadonlyArray<string>,
): string => {
  const row = (name: string): string => `(${fixed.map((column) => `${name}.${column}`).join(", ")})`
  return `${make} ${schema}.refuse_change_of_invoice() returns trigger ${SETTINGS} as $$
begin
  if tg_op <> 'TRUNCATE' then
    if old.status = 'draft' then return case tg_op when 'DELETE' then old else new end; end if;
    if tg_op = 'UPDATE' and new.state ->> 'status' <> 'draft' and (new.state - ${CHANGING}) = (old.state - ${CHANGING})
      and (new.account_id, new.mode, new.customer_id, new.id, new.lines_bytes, new.lines_written, new.created_at)
        = (old.account_id, old.mode, old.customer_id, old.id, old.lines_bytes, old.lines_written, old.created_at)
      and ${row("new")} is not distinct from ${row("old")}
    then return new; end if;
  end if;
  raise exception 'an issued invoice can''t be changed or removed: issue a credit note, or void it'
    using errcode = 'restrict_violation', table = 'billing_invoices', constraint = 'billing_invoices_are_final';
end
$$`
}

const changes = (schema: SchemaName): ReadonlyArray<string> => [
  refuseChangeOfInvoice(schema, "create function", ["subscription_id", "cause"]),
  `create trigger billing_invoices_are_final before update or delete on ${schema}.billing_invoices
for each row execute function ${schema}.refuse_change_of_invoice()`,
  `create trigger billing_invoices_stay before truncate on ${schema}.billing_invoices
for each statement execute function ${schema}.refuse_change_of_invoice()`,
  `create function ${schema}.note_change_of_lines() returns trigger ${SETTINGS} as $$
begin
  update ${schema}.billing_invoices i set lines_written = i.lines_written + 1
  from (select distinct c.account_id, c.mode, c.customer_id, c.invoice_id from changed c) as c
  where ${invoiceKey("i", "c")} and i.id = c.invoice_id;
  return null;
end
$$`,
  `create trigger billing_invoice_lines_added after insert on ${schema}.billing_invoice_lines
referencing new table as changed for each statement execute function ${schema}.note_change_of_lines()`,
  `create trigger billing_invoice_lines_removed after delete on ${schema}.billing_invoice_lines
referencing old table as changed for each statement execute function ${schema}.note_change_of_lines()`,
  `create function ${schema}.refuse_change_of_line() returns trigger ${SETTINGS} as $$
begin
  raise exception 'lines of invoices are not changed: those of a draft are removed, and others added'
    using errcode = 'restrict_violation', table = 'billing_invoice_lines', constraint = 'billing_invoice_lines_are_final';
end
$$`,
  `create trigger billing_invoice_lines_are_final before update or truncate on ${schema}.billing_invoice_lines
for each statement execute function ${schema}.refuse_change_of_line()`,
]

const numbers = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.count_taken_numbers() returns trigger ${SETTINGS} as $$
declare
  v_last bigint := (new.state ->> 'last')::bigint;
  v_year integer := (new.state ->> 'year')::integer;
  v_before_last bigint := 0;
  v_before_year integer;
  v_is_restarted boolean;
  v_problem text;
begin
  if tg_op = 'TRUNCATE' then v_problem := 'it is removed';
  elsif tg_op = 'DELETE' then
    if old.taken = 0 then return old; end if;
    v_problem := 'it is removed';
  elsif tg_op = 'INSERT' then
    new.taken := coalesce(v_last, 0);
    new.issued := 0;
    new.issued_until := null;
    return new;
  else
    v_before_last := coalesce((old.state ->> 'last')::bigint, 0);
    v_before_year := (old.state ->> 'year')::integer;
    v_is_restarted := v_year > v_before_year and strpos(new.state ->> 'format', '{year}') > 0;
    new.taken := old.taken + coalesce(v_last, 0) - case when v_is_restarted then 0 else v_before_last end;
    v_problem := case
      when (new.account_id, new.mode, new.name) <> (old.account_id, old.mode, old.name) then 'it is of something else'
      when old.state is not null and new.state is null then 'it is removed'
      when (new.issued, coalesce(new.issued_until, '-infinity')) <> (old.issued, coalesce(old.issued_until, '-infinity'))
        and pg_trigger_depth() < 2 then 'only a new number is counted'
      when v_year < v_before_year or (v_year is null and v_before_year is not null) then 'the year falls'
      when v_last < v_before_last and v_is_restarted is not true then 'the last number falls'
      when coalesce((new.state ->> 'lastIssuedAt')::numeric < (old.state ->> 'lastIssuedAt')::numeric, false)
        then 'the instant of the last number falls'
    end;
    if v_problem is null then return new; end if;
  end if;
  raise exception 'a series of numbers only goes forward: %', v_problem
    using errcode = 'restrict_violation', table = 'billing_series', constraint = 'billing_series_are_consecutive';
end
$$`,
  `create trigger billing_series_go_forward before insert or update or delete on ${schema}.billing_series
for each row execute function ${schema}.count_taken_numbers()`,
  `create trigger billing_series_stay before truncate on ${schema}.billing_series
for each statement execute function ${schema}.count_taken_numbers()`,
  `create function ${schema}.check_series() returns trigger ${SETTINGS} as $$
begin
  if exists (
    select from ${schema}.billing_series s
    where s.account_id = new.account_id and s.mode = new.mode and s.name = 'invoice' and s.taken <> s.issued
  ) then
    raise exception 'the numbers of invoices have a gap: not as many invoices are issued as numbers are taken'
      using errcode = 'check_violation', table = 'billing_series', constraint = 'billing_series_are_consecutive';
  end if;
  return null;
end
$$`,
  `create constraint trigger billing_series_are_consecutive after insert or update on ${schema}.billing_series
deferrable initially deferred for each row when (new.name = 'invoice') execute function ${schema}.check_series()`,
  `create function ${schema}.count_issued_invoice() returns trigger ${SETTINGS} as $$
begin
  update ${schema}.billing_series s set issued = s.issued + 1, issued_until = new.issued_at
  where s.account_id = new.account_id and s.mode = new.mode and s.name = 'invoice'
    and coalesce(s.issued_until, '-infinity') <= new.issued_at;
  if not found then
    raise exception 'an invoice is issued without a series of numbers, or before the one with the number before'
      using errcode = 'check_violation', table = 'billing_series', constraint = 'billing_series_are_consecutive';
  end if;
  return null;
end
$$`,
  `create function ${schema}.check_invoice_number() returns trigger ${SETTINGS} as $$
declare
  v_series jsonb;
  v_format text;
  v_width integer;
  v_counter text;
  v_year integer;
  v_problem text;
begin
  select s.state into v_series from ${schema}.billing_series s
  where s.account_id = new.account_id and s.mode = new.mode and s.name = 'invoice';
  v_format := replace(v_series ->> 'format', '.', '[.]');
  v_width := substring(v_format from '[{]number:([0-9]+)[}]');
  v_counter := substring(new.number from '^' || regexp_replace(replace(v_format, '{year}', '[0-9]{4}'),
    '[{]number:[0-9]+[}]', '([0-9]{' || v_width || ',})') || '$');
  if strpos(v_format, '{year}') > 0 then
    v_year := substring(new.number from '^' || regexp_replace(replace(v_format, '{year}', '([0-9]{4})'),
      '[{]number:[0-9]+[}]', '[0-9]{' || v_width || ',}') || '$');
  end if;
  v_problem := case
    when v_counter is null then 'it is not in the format of the series'
    when char_length(v_counter) > v_width and v_counter like '0%' then 'it is not in the format of the series'
    when v_counter::numeric < 1 then 'it is less than 1'
    when v_year > (v_series ->> 'year')::integer then 'it is of a later year than the last one taken'
    when coalesce(v_year = (v_series ->> 'year')::integer, true) and v_counter::numeric > (v_series ->> 'last')::numeric
      then 'it is greater than the last one taken'
    when extract(epoch from new.issued_at) * 1000 > (v_series ->> 'lastIssuedAt')::numeric
      then 'it is issued later than the last one taken'
  end;
  if v_problem is not null then
    raise exception 'the number of an invoice is not one of its series: %', v_problem
      using errcode = 'check_violation', table = 'billing_invoices', constraint = 'billing_invoices_numbered';
  end if;
  return null;
end
$$`,
  ...(["count_issued_invoice", "check_invoice_number"] as const).flatMap((name) => {
    const [kind, timing] =
      name === "count_issued_invoice" ? ["", ""] : ["constraint ", " deferrable initially deferred"]
    return [
      `create ${kind}trigger billing_invoices_${name}_new after insert on ${schema}.billing_invoices${timing}
for each row when (new.number is not null) execute function ${schema}.${name}()`,
      `create ${kind}trigger billing_invoices_${name} after update on ${schema}.billing_invoices${timing}
for each row when (old.number is null and new.number is not null) execute function ${schema}.${name}()`,
    ]
  }),
]

export const billingRules = (schema: SchemaName): ReadonlyArray<string> => [
  ...sums(schema),
  ...changes(schema),
  ...numbers(schema),
]
