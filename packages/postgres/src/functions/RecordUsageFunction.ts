/**
 * `record_usage`: records usage from any client, in any language, inside its own transaction.
 *
 * The rules are those of `Usage.record`. Its errors have SQLSTATEs of the class `BW`: `BW400` for invalid input
 * (DETAIL names the argument), `BW404` for an unknown or erased customer, and `BW409` for an idempotency key that was
 * used before with other content (DETAIL is the id of that record).
 */
import { Dimensions, Rollup, UsageRecord } from "@billwright/core"
import { instantOf, millis } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { boundedText, pathOf, refuse, tenantProblems, textMap } from "./Problems.ts"
import { define } from "./SqlFunction.ts"

const { MAX_FUTURE_MILLIS, MAX_PRODUCT_ID_LENGTH, MAX_QUANTITY, MAX_UNIT_LENGTH, MAX_USAGE_KEY_LENGTH } =
  UsageRecord
const { MAX_DIMENSION_NAME_LENGTH, MAX_DIMENSION_VALUE_LENGTH, MAX_DIMENSIONS } = Dimensions
const MAX_FUTURE_MINUTES = MAX_FUTURE_MILLIS / 60_000

/** An instant in the JSON of a record, in the format of the API. */
const sent = (schema: SchemaName, field: string): string =>
  `${schema}.format_instant(${instantOf(`(v_record ->> '${field}')::bigint`)})`

export const recordUsage = define(
  "record_usage",
  (schema) => `(
  account_id text, mode text, customer_id text, product_id text, quantity numeric, unit text,
  occurred_at timestamptz default null, idempotency_key text default null, dimensions jsonb default null
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
  v_dimension text;
  v_path text;
begin
  v_problem := case
    ${tenantProblems}
    when v_customer is null then array['customer_id', 'must be an id that starts with cus_, with 26 lower-case letters and digits after it']
    ${boundedText("product_id", MAX_PRODUCT_ID_LENGTH, "product_id is null or")}
    when quantity is null or quantity = 'NaN' or quantity not between 0 and ${MAX_QUANTITY}
      or quantity <> trunc(quantity)
      then array['quantity', 'must be an integer from 0 to ${MAX_QUANTITY}']
    ${boundedText("unit", MAX_UNIT_LENGTH, "unit is null or")}
    ${boundedText("idempotency_key", MAX_USAGE_KEY_LENGTH, "idempotency_key is not null and")}
    ${textMap("dimensions", { keys: MAX_DIMENSIONS, keyLength: MAX_DIMENSION_NAME_LENGTH, valueLength: MAX_DIMENSION_VALUE_LENGTH })}
    -- A timestamp that is too late in real time may be right by the customer's test clock.
    when v_at > v_now + interval '${MAX_FUTURE_MINUTES} minutes'
      and v_at > ${schema}.customer_time(account_id, mode, v_customer, v_now) + interval '${MAX_FUTURE_MINUTES} minutes'
      then array['occurred_at', 'must not be more than ${MAX_FUTURE_MINUTES} minutes in the future']
    when v_at < '0001-01-01T00:00:00Z' then array['occurred_at', 'must not be before the year 0001']
  end;
  ${refuse}

  for v_row in
    select a.kind, a.payload from ${schema}.append_usage(account_id, mode, array[v_id], array[v_customer],
      array[product_id], array[unit], array[quantity::bigint],
      array[${millis("v_at")}], array[occurred_at is not null], array[idempotency_key],
      array[${millis("v_now")}], array[nullif(dimensions, '{}')]) as a
  loop
    case v_row.kind
      when 'unknown_customer' then
        raise exception 'no customer has the id %', customer_id using errcode = 'BW404', detail = customer_id;
      when 'key_conflict' then
        raise exception 'idempotency_key was already used with other content, by %',
          ${schema}.format_id('usg', (v_row.payload ->> 'id')::uuid)
          using errcode = 'BW409', detail = ${schema}.format_id('usg', (v_row.payload ->> 'id')::uuid);
      when 'too_many_combinations' then
        v_dimension := v_row.payload ->> 'dimension';
        v_path := ${pathOf("dimensions", "v_dimension")};
        raise exception '% ${Rollup.tooManyCombinations("%", "%")}', v_path, v_row.payload ->> 'meter_key',
          v_row.payload ->> 'day' using errcode = 'BW400', detail = v_path;
      when 'duplicate' then
        v_status := 'duplicate';
        v_record := v_row.payload;
      else null;
    end case;
  end loop;

  if v_record is null then
    -- In a distributed table the row has another type on its shard. So its fields are passed, and the type is made
    -- here.
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
    'dimensions', coalesce(nullif(v_record -> 'dimensions', 'null'), '{}'),
    'timestamp', ${sent(schema, "occurred_at")},
    'idempotency_key', v_record ->> 'idempotency_key',
    'voided_at', ${sent(schema, "voided_at")},
    'created_at', ${sent(schema, "created_at")}
  ));
end
$$`,
  {
    comment:
      "Records usage. Joins the current transaction. Raises BW400 (invalid), BW404 (no such customer), BW409 (key used).",
  },
)
