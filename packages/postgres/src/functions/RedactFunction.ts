/**
 * `redact_events`: takes personal data out of events about a customer who is erased, and out of what receivers answered.
 *
 * The role of the application can't change events and attempts otherwise. So the function runs with the rights of the owner,
 * and changes events about erased customers only.
 *
 * Deliveries that are pending are locked first, in the order of their ids. That waits for claims and results that are being
 * written, so that the statements after it see them, and for no endpoint.
 */
import { instantOf } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { define } from "./SqlFunction.ts"

const ofEvents = (name: string): string =>
  `${name}.account_id = p_account and ${name}.mode = p_mode and ${name}.event_id = any (p_ids)`

const body = (schema: SchemaName): string => `declare
  v_at timestamptz(3) := ${instantOf("p_at")};
begin
  if not exists (
    select from ${schema}.customers c
    where c.account_id = p_account and c.mode = p_mode and c.id = p_customer and c.erased_at is not null
  ) then
    raise exception 'the customer is not erased' using errcode = 'invalid_parameter_value';
  end if;
  if exists (
    select from ${schema}.events e
    where e.account_id = p_account and e.mode = p_mode and e.id = any (p_ids)
      and e.customer_id is distinct from p_customer
  ) then
    raise exception 'an event is not about the customer' using errcode = 'invalid_parameter_value';
  end if;
  perform from ${schema}.webhook_pending q where ${ofEvents("q")} order by q.id for update;
  update ${schema}.events e set payload = g.payload, idempotency_key = null, redacted_at = v_at
  from unnest(p_ids, p_payloads) as g (id, payload)
  where e.account_id = p_account and e.mode = p_mode and e.id = g.id and e.redacted_at is null;
  update ${schema}.webhook_finished f set attempt_response_headers = null, attempt_response_body = null
  where ${ofEvents("f")} and (f.attempt_response_headers is not null or f.attempt_response_body is not null);
  update ${schema}.webhook_earlier_attempts a set response_headers = null, response_body = null
  from (
    select q.id from ${schema}.webhook_pending q where ${ofEvents("q")}
    union all
    select f.id from ${schema}.webhook_finished f where ${ofEvents("f")}
  ) as d
  where a.account_id = p_account and a.mode = p_mode and a.delivery_id = d.id
    and (a.response_headers is not null or a.response_body is not null);
  -- Whoever has the lease can't settle the delivery any more, and the next claim finds it lost.
  update ${schema}.webhook_pending q set lease_token = gen_random_uuid(), leased_until = least(q.leased_until, v_at)
  where ${ofEvents("q")} and q.leased_until is not null;
end`

export const redactEvents = define(
  "redact_events",
  (schema) => `(
  p_account text, p_mode text, p_customer uuid, p_ids uuid[], p_payloads text[], p_at bigint
) returns void language plpgsql volatile as $$
${body(schema)}
$$`,
  { isByIndex: true },
)
