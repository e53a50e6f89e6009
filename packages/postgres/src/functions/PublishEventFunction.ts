/**
 * `publish_event`: publishes events from any client, in any language, inside its own transaction.
 *
 * The rules are those of `Events.publish`, except for the catalogue of event types, which only processes have and the
 * database doesn't. The type must be a valid name, and the data must be a JSON object that can be sent. In the data of
 * a built-in type, the fields with instants are checked as well.
 * Errors carry the SQLSTATEs of `record_usage`.
 */
import { Event, EventCatalogue, EventType, HostEvents } from "@billwright/core"
import { millis } from "../Millis.ts"
import { boundedText, refuse, tenantProblems } from "./Problems.ts"
import { define } from "./SqlFunction.ts"

const { MAX_DATA_DEPTH, MAX_EVENT_KEY_LENGTH, MAX_PAYLOAD_BYTES } = Event
const { MAX_EVENT_TYPE_LENGTH } = EventType
const MAX_NUMBER = String(Number.MAX_VALUE)

/**
 * Data that no event may contain. Each is a path that finds it. Text in `jsonb` is always well-formed and without
 * NUL.
 */
const deep = `strict $.**{${MAX_DATA_DEPTH} to last} ? (@.type() == "object" || @.type() == "array")`
const prototype = `strict $.** ? (@.type() == "object") ? (exists (@."__proto__"))`
// The library takes integers beyond this as `bigint`. In `jsonb` they look like 1e309, which no receiver can
// represent.
const huge = `strict $.** ? (@.type() == "number") ? (@ > ${MAX_NUMBER} || @ < -${MAX_NUMBER})`

const INSTANT_FIELDS = `{${HostEvents.INSTANT_FIELDS.join(",")}}`
/** The built-in types that have such a field. */
const TYPES_WITH_INSTANTS = EventCatalogue.builtIn
  .filter(({ example }) => HostEvents.INSTANT_FIELDS.some((field) => Object.hasOwn(Object(example), field)))
  .map(({ name }) => `'${name}'`)
  .join(", ")

/**
 * Whether text is an RFC 3339 instant in capital letters; see `Instant.parse`. Adding 400 years keeps the calendar the
 * same, and avoids year 0, which `make_date` doesn't know.
 */
export const isInstant = define(
  "is_instant",
  () => `(p_text text) returns boolean
language sql immutable strict as $$
  select case
    when p_text !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$'
      then false
    else substr(p_text, 9, 2)::integer <= extract(day from
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
  v_field text;
  v_payload text;
  v_problem text[];
  v_row record;
  v_event jsonb;
begin
  v_problem := case
    ${tenantProblems}
    when type is null or char_length(type) > ${MAX_EVENT_TYPE_LENGTH} or type !~ '^[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+$'
      then array['type', 'must be an event type such as invoice.paid: lower-case words joined by dots, at most ${MAX_EVENT_TYPE_LENGTH} characters']
    when data is null or jsonb_typeof(data) <> 'object' then array['data', 'must be an object']
    when jsonb_path_exists(data, '${deep}')
      then array['data', 'must not be nested deeper than ${MAX_DATA_DEPTH} levels']
    when jsonb_path_exists(data, '${prototype}') then array['data', 'must not contain the key __proto__']
    when jsonb_path_exists(data, '${huge}')
      then array['data', 'must not contain a number that JSON can''t hold']
    when customer_id is not null and v_customer is null
      then array['customer_id', 'must be an id that starts with cus_, with 26 lower-case letters and digits after it']
    ${boundedText("idempotency_key", MAX_EVENT_KEY_LENGTH, "idempotency_key is not null and")}
  end;
  if v_problem is null and type in (${TYPES_WITH_INSTANTS}) then
    select f.name into v_field from unnest('${INSTANT_FIELDS}'::text[]) with ordinality as f (name, place)
    where case jsonb_typeof(data -> f.name)
      when 'string' then not ${schema}.is_instant(data ->> f.name) else data ? f.name end
    order by f.place limit 1;
    if found then
      v_problem := array['data.' || v_field, '${HostEvents.INSTANT_PROBLEM}'];
    end if;
  end if;
  if v_problem is null then
    v_payload := ${schema}.event_payload(v_id, type, v_now, mode, data::text);
    if octet_length(v_payload) > ${MAX_PAYLOAD_BYTES} then
      v_problem := array['data', 'must not make a payload of more than ${MAX_PAYLOAD_BYTES} bytes'];
    end if;
  end if;
  ${refuse}

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
