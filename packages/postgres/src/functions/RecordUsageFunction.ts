/**
 * `record_usage`: recording usage from any client, in any language, inside its own transaction.
 *
 * The rules are those of `Usage.record`. Errors carry SQLSTATEs of a class of their own, `BW`: `BW400` for
 * input that breaks a rule (DETAIL names the argument), `BW404` for a customer that is unknown or erased,
 * `BW409` for an idempotency key that was used before for other content (DETAIL is the id of its record).
 */
import { millis } from "../Millis.ts"
import { define } from "./SqlFunction.ts"

const iso = (expression: string): string =>
  `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

export const recordUsage = define(
  "record_usage",
  (schema) => `(
  account_id text, mode text, customer_id text, product_id text, quantity numeric, unit text,
  occurred_at timestamptz default null, idempotency_key text default null
) returns jsonb language plpgsql as $$
#variable_conflict use_variable
declare
  v_customer uuid := ${schema}.parse_id('cus', customer_id);
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_at timestamptz := coalesce(date_trunc('milliseconds', occurred_at), v_now);
  v_id uuid := ${schema}.make_uuid_v7(v_now);
  v_problem text[];
  v_row record;
  v_stored ${schema}.usage_records;
  v_record jsonb;
  v_status text := 'recorded';
begin
  v_problem := case
    when account_id is null or account_id !~ '^[A-Za-z0-9_-]{1,64}$'
      then array['account_id', 'must be 1 to 64 letters, digits, - or _']
    when mode is null or mode not in ('live', 'test') then array['mode', 'must be live or test']
    when v_customer is null then array['customer_id', 'must be an id that starts with cus_']
    when product_id is null or char_length(product_id) not between 1 and 255
      then array['product_id', 'must be 1 to 255 characters']
    when quantity is null or quantity = 'NaN' or quantity not between 0 and 9007199254740991
      or quantity <> trunc(quantity)
      then array['quantity', 'must be an integer from 0 to 9007199254740991']
    when unit is null or char_length(unit) not between 1 and 64 then array['unit', 'must be 1 to 64 characters']
    when idempotency_key is not null and char_length(idempotency_key) not between 1 and 255
      then array['idempotency_key', 'must be 1 to 255 characters']
    when v_at > v_now + interval '5 minutes'
      then array['occurred_at', 'must not be more than 5 minutes in the future']
    when v_at < '0001-01-01T00:00:00Z' then array['occurred_at', 'must not be before the year 0001']
  end;
  if v_problem is not null then
    raise exception '% %', v_problem[1], v_problem[2] using errcode = 'BW400', detail = v_problem[1];
  end if;

  for v_row in
    select a.kind, a.payload from ${schema}.append_usage(account_id, mode, array[v_id], array[v_customer],
      array[product_id], array[unit], array[quantity::bigint],
      array[${millis("v_at")}], array[occurred_at is not null], array[idempotency_key],
      array[${millis("v_now")}]) as a
  loop
    case v_row.kind
      when 'unknown_customer' then
        raise exception 'no customer has the id %', customer_id using errcode = 'BW404', detail = customer_id;
      when 'key_conflict' then
        raise exception 'idempotency_key was already used with other content, by %',
          ${schema}.format_id('usg', (v_row.payload ->> 'id')::uuid)
          using errcode = 'BW409', detail = ${schema}.format_id('usg', (v_row.payload ->> 'id')::uuid);
      when 'duplicate' then
        v_status := 'duplicate';
        v_record := v_row.payload;
      else null;
    end case;
  end loop;

  if v_record is null then
    -- Where the table is distributed, the row has another type on its shard: the function takes it from here.
    select r.* into v_stored from ${schema}.usage_records r
    where r.account_id = record_usage.account_id and r.mode = record_usage.mode and r.customer_id = v_customer
      and r.id = v_id;
    v_record := ${schema}.usage_record_json(v_stored);
  end if;
  return jsonb_build_object('status', v_status, 'record', jsonb_build_object(
    'id', ${schema}.format_id('usg', (v_record ->> 'id')::uuid),
    'customer_id', customer_id,
    'product_id', v_record ->> 'product_id',
    'quantity', (v_record ->> 'quantity')::bigint,
    'unit', v_record ->> 'unit',
    'timestamp', ${iso("to_timestamp((v_record ->> 'occurred_at')::float8 / 1000)")},
    'idempotency_key', v_record ->> 'idempotency_key',
    'voided_at', ${iso("to_timestamp((v_record ->> 'voided_at')::float8 / 1000)")},
    'created_at', ${iso("to_timestamp((v_record ->> 'created_at')::float8 / 1000)")}
  ));
end
$$`,
  {
    comment:
      "Records usage. Joins the current transaction. Raises BW400 (invalid), BW404 (no such customer), BW409 (key used).",
  },
)
