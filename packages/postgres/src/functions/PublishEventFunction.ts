/**
 * `publish_event`: publishing events from any client, in any language, inside its own transaction.
 *
 * The rules are those of `Events.publish`, but for the catalogue of event types, which the processes have and the
 * database hasn't: the type is checked to be a name, and the data to be an object of JSON that can be sent. A host may
 * have its own idea of a built-in type, so that of those only what nobody can mean is refused: an instant that doesn't
 * exist.
 * Errors carry the SQLSTATEs of `record_usage`.
 */
import { millis } from "../Millis.ts"
import { define } from "./SqlFunction.ts"

// `Event.MAX_PAYLOAD_BYTES`, `Event.MAX_DATA_DEPTH`; the largest double.
const MAX_PAYLOAD_BYTES = 262_144
const MAX_DATA_DEPTH = 30
const MAX_NUMBER = "1.7976931348623157e308"

/** What no event's data may hold; each a path that finds it. Text in `jsonb` is well-formed and without NUL. */
const deep = `strict $.**{${MAX_DATA_DEPTH} to last} ? (@.type() == "object" || @.type() == "array")`
const prototype = `strict $.** ? (@.type() == "object") ? (exists (@."__proto__"))`
// Integers may be of any size, as in core; what has a fraction is read as a double by every receiver.
const huge = `strict $.** ? (@.type() == "number") ? (@ > ${MAX_NUMBER} || @ < -${MAX_NUMBER})`

// `HostEvents.INSTANT_FIELDS`, and the built-in types that have them.
const INSTANT_FIELDS = "{due_at,paid_at,period_start,period_end,current_period_start,current_period_end}"
const TYPES_WITH_INSTANTS =
  "'invoice.created', 'invoice.paid', 'subscription.created', 'subscription.activated'"

/**
 * Whether text is written like an RFC 3339 instant, and is none: `Instant.parse`. The calendar repeats itself after 400
 * years, and `make_date` knows no year 0.
 */
export const isImpossibleInstant = define(
  "is_impossible_instant",
  () => `(p_text text) returns boolean
language sql immutable strict as $$
  select case
    when p_text !~* '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$'
      then false
    when p_text !~* '^.{5}(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$'
      then true
    else substr(p_text, 9, 2)::integer > extract(day from
      make_date(substr(p_text, 1, 4)::integer + 400, substr(p_text, 6, 2)::integer, 1) + interval '1 month - 1 day')
  end
$$`,
)

export const publishEvent = define(
  "publish_event",
  (schema) => `(
  account_id text, mode text, type text, data jsonb, customer_id text default null, idempotency_key text default null
) returns jsonb language plpgsql as $$
#variable_conflict use_variable
declare
  v_customer uuid := ${schema}.parse_id('cus', customer_id);
  v_now timestamptz(3) := date_trunc('milliseconds', clock_timestamp());
  v_id uuid := ${schema}.make_uuid_v7(v_now);
  v_impossible text := (
    select f.name from unnest('${INSTANT_FIELDS}'::text[]) with ordinality as f (name, place)
    where ${schema}.is_impossible_instant(data ->> f.name) order by f.place limit 1
  );
  v_payload text;
  v_problem text[];
  v_row record;
  v_event jsonb;
begin
  v_problem := case
    when account_id is null or account_id !~ '^[A-Za-z0-9_-]{1,64}$'
      then array['account_id', 'must be 1 to 64 letters, digits, - or _']
    when mode is null or mode not in ('live', 'test') then array['mode', 'must be live or test']
    when type is null or char_length(type) > 100 or type !~ '^[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+$'
      then array['type', 'must be an event type such as invoice.paid: lower-case words joined by dots, at most 100 characters']
    when data is null or jsonb_typeof(data) <> 'object' then array['data', 'must be an object']
    when jsonb_path_exists(data, '${deep}')
      then array['data', 'must not be nested deeper than ${MAX_DATA_DEPTH} levels']
    when jsonb_path_exists(data, '${prototype}') then array['data', 'must not contain the key __proto__']
    when jsonb_path_exists(data, '${huge}')
      then array['data', 'must not contain a number that JSON can''t hold']
    when type in (${TYPES_WITH_INSTANTS}) and v_impossible is not null
      then array['data', 'must have an instant that exists in ' || v_impossible]
    when customer_id is not null and v_customer is null
      then array['customer_id', 'must be an id that starts with cus_']
    when idempotency_key is not null and char_length(idempotency_key) not between 1 and 255
      then array['idempotency_key', 'must be 1 to 255 characters']
  end;
  if v_problem is null then
    v_payload := ${schema}.event_payload(v_id, type, v_now, mode, data::text);
    if octet_length(v_payload) > ${MAX_PAYLOAD_BYTES} then
      v_problem := array['data', 'must not make a payload of more than ${MAX_PAYLOAD_BYTES} bytes'];
    end if;
  end if;
  if v_problem is not null then
    raise exception '% %', v_problem[1], v_problem[2] using errcode = 'BW400', detail = v_problem[1];
  end if;

  select p.kind, p.event into v_row from ${schema}.publish_event_row(account_id, mode, v_id, type,
    ${millis("v_now")}, v_customer, idempotency_key, v_payload, null) as p;
  case v_row.kind
    when 'unknown_customer' then
      raise exception 'no customer has the id %', customer_id using errcode = 'BW404', detail = customer_id;
    when 'key_conflict' then
      raise exception 'idempotency_key was already used with other content, by %',
        ${schema}.format_id('evt', (v_row.event ->> 'id')::uuid)
        using errcode = 'BW409', detail = ${schema}.format_id('evt', (v_row.event ->> 'id')::uuid);
    when 'duplicate' then
      v_payload := v_row.event ->> 'payload';
    else null;
  end case;
  return jsonb_build_object(
    'status', case v_row.kind when 'duplicate' then 'duplicate' else 'published' end,
    'event', v_payload::jsonb || jsonb_build_object('customer_id', customer_id, 'idempotency_key', idempotency_key)
  );
end
$$`,
  {
    comment:
      "Publishes an event. Joins the current transaction. Raises BW400 (invalid), BW404 (no such customer), BW409 (key used).",
  },
)
