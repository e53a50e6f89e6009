/**
 * `consume_credits` and `commit_hold`: use credits from any client, in any language, inside its own transaction.
 *
 * The rules are those of `Credits.consume` and `Holds.commit`, and so are the answers, as the REST API writes them. Like the
 * library, they first call `take_credits` or `settle_holds`, which lock the account. What these leave to others they do by
 * the steps of `CreditLedgerFunctions`.
 *
 * Errors carry the SQLSTATEs of `record_usage`, and `BW402` if there is not enough (DETAIL is what is available).
 */
import { Credit, Hold } from "@billwright/core"
import { millis } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { boundedText, refuse, tenantProblems } from "./Problems.ts"
import { define } from "./SqlFunction.ts"

/** An amount, `Credit.amountFrom`. */
const amountProblem = (guard: `${string} is null or` | `${string} is not null and`, least: 0 | 1): string =>
  `when ${guard} (amount = 'NaN' or amount not between ${least} and 1e30 or amount <> trunc(amount))
      then array['amount', 'must be an integer from ${least} to 10^30']`

/** `Credit.CreditUnit`. */
const unitProblem = `when unit is null or unit !~ '^[a-z][a-z0-9_]{0,${Credit.MAX_CREDIT_UNIT_LENGTH - 1}}$' and not unit = any ('{${Credit.CURRENCY_UNITS.join(",")}}')
      then array['unit', '${Credit.UNIT_PROBLEM}']`

const isOwn = (alias: string): string =>
  `${alias}.account_id = account_id and ${alias}.mode = mode and ${alias}.customer_id = v_customer and ${alias}.unit = v_unit`

/** `InsufficientCredits`. */
const refuseUse = (asked: string, available: string): string => `
    raise exception 'not enough credits: % of % were asked for, and % are available', ${asked}, v_unit, ${available}
      using errcode = 'BW402', detail = ${available};`

const VARIABLES = (schema: SchemaName): string => `
  v_unit text;
  v_clock timestamptz(3) := date_trunc('milliseconds', clock_timestamp());
  v_now timestamptz(3);
  v_entry uuid := ${schema}.make_uuid_v7(v_clock);
  v_account ${schema}.billing_credit_accounts;
  v_after ${schema}.billing_credit_accounts;
  v_problem text[];`

const readAccount = (schema: SchemaName): string => `
    select a.* into v_account from ${schema}.billing_credit_accounts a where ${isOwn("a")} for no key update;`

const consumptionBody = (schema: SchemaName): string => `jsonb_build_object('object', 'credit_consumption',
    'id', ${schema}.format_id('${Credit.CONSUMPTION_ID_PREFIX}', v_made.id), 'customer_id', customer_id, 'unit', v_made.unit,
    'amount', v_made.amount, 'purpose', v_made.purpose, 'idempotency_key', v_made.idempotency_key,
    'balance', jsonb_build_object('available', v_made.available, 'held', v_made.held, 'debt', v_made.debt),
    'livemode', mode = 'live', 'created_at', ${schema}.format_instant(v_made.created_at))`

const holdBody = (schema: SchemaName): string => `jsonb_build_object('object', 'hold', 'id', hold_id,
    'customer_id', ${schema}.format_id('cus', v_hold.customer_id), 'unit', v_hold.unit, 'amount', v_hold.amount, 'purpose', v_hold.purpose,
    'status', v_hold.status, 'committed', v_hold.committed, 'is_late', v_hold.is_late,
    'expires_at', ${schema}.format_instant(v_hold.expires_at), 'settled_at', ${schema}.format_instant(v_hold.settled_at),
    'idempotency_key', v_hold.idempotency_key, 'livemode', mode = 'live',
    'created_at', ${schema}.format_instant(v_hold.created_at))`

/** The consumption that has the key: the answer if it is the same, and otherwise an error. */
const earlierConsumption = (schema: SchemaName): string => `
    select c.* into v_made from ${schema}.billing_credit_consumptions c
    where ${isOwn("c")} and c.idempotency_key = consume_credits.idempotency_key;
    if found then
      if v_made.amount = amount and v_made.purpose is null then return ${consumptionBody(schema)}; end if;
      raise exception 'idempotency_key was already used with other content, by %',
        ${schema}.format_id('${Credit.CONSUMPTION_ID_PREFIX}', v_made.id)
        using errcode = 'BW409', detail = ${schema}.format_id('${Credit.CONSUMPTION_ID_PREFIX}', v_made.id);
    end if;`

export const consumeCredits = define(
  "consume_credits",
  (schema) => `(
  account_id text, mode text, customer_id text, unit text, amount numeric, idempotency_key text default null
) returns jsonb language plpgsql as $$
#variable_conflict use_variable
declare
  v_customer uuid := ${schema}.parse_id('cus', customer_id);${VARIABLES(schema)}
  v_id uuid := ${schema}.make_uuid_v7(v_clock);
  v_made ${schema}.billing_credit_consumptions;
begin
  v_problem := case
    ${tenantProblems}
    when v_customer is null then array['customer_id', 'must be an id that starts with cus_, with 26 lower-case letters and digits after it']
    ${unitProblem}
    ${amountProblem("amount is null or", 1)}
    ${boundedText("idempotency_key", Credit.MAX_CREDIT_KEY_LENGTH, "idempotency_key is not null and")}
  end;
  ${refuse}
  v_unit := unit;
  amount := trunc(amount);
  v_now := ${schema}.customer_time(account_id, mode, v_customer, v_clock);

  perform from ${schema}.take_credits(account_id, mode, true, array[v_customer], array[v_unit], array[v_id], array[v_entry],
    array[amount], array[idempotency_key], array[${millis("v_now")}]);
  if not found then
    -- The account is locked now. These are new statements, so they see what those before have committed.${earlierConsumption(schema)}${readAccount(schema)}
    if found then v_after := ${schema}.advance_credits(v_account, v_entry, v_now); end if;
    if coalesce(v_after.available, 0) < amount then
      -- Of an erased customer nothing is left, so it comes here.
      perform from ${schema}.customers c
      where c.account_id = account_id and c.mode = mode and c.id = v_customer and c.erased_at is null;
      if not found then
        raise exception 'no customer has the id %', customer_id using errcode = 'BW404', detail = customer_id;
      end if;${refuseUse("amount", "coalesce(v_after.available, 0)")}
    end if;
    insert into ${schema}.billing_credit_consumptions
      (account_id, mode, customer_id, unit, id, amount, available, held, debt, idempotency_key, created_at)
    values (account_id, mode, v_customer, v_unit, v_id, amount, v_after.available - amount, v_after.held, v_after.debt,
      idempotency_key, v_now);
    v_after := ${schema}.spend_credits(v_after, v_entry, 'consume', v_now, null, v_id, amount);
    perform ${schema}.write_credits(v_account, v_after, v_clock);
  end if;

  select c.* into v_made from ${schema}.billing_credit_consumptions c where ${isOwn("c")} and c.id = v_id;
  return ${consumptionBody(schema)};
end
$$`,
  {
    isByIndex: true,
    comment:
      "Uses credits of a customer. Joins the current transaction. Raises BW400 (invalid), BW402 (not enough), BW404 (no such customer), BW409 (key used).",
  },
)

const readHold = (schema: SchemaName): string => `
  select h.* into v_hold from ${schema}.billing_credit_holds h
  where h.account_id = account_id and h.mode = mode and h.id = v_id;`

export const commitHold = define(
  "commit_hold",
  (schema) => `(
  account_id text, mode text, hold_id text, amount numeric default null, overdraft text default 'debt'
) returns jsonb language plpgsql as $$
#variable_conflict use_variable
declare
  v_id uuid := ${schema}.parse_id('${Hold.HOLD_ID_PREFIX}', hold_id);
  v_customer uuid;${VARIABLES(schema)}
  v_hold ${schema}.billing_credit_holds;
  v_held numeric;
  v_available numeric;
begin
  v_problem := case
    ${tenantProblems}
    when hold_id is null then array['hold_id', 'must be an id that starts with ${Hold.HOLD_ID_PREFIX}_, with 26 lower-case letters and digits after it']
    ${amountProblem("amount is not null and", 0)}
    when overdraft is null or overdraft not in ('debt', 'refuse') then array['overdraft', 'must be debt or refuse']
  end;
  ${refuse}
${readHold(schema)}
  if not found then
    raise exception 'no hold has the id %', hold_id using errcode = 'BW404', detail = hold_id;
  end if;
  v_customer := v_hold.customer_id;
  v_unit := v_hold.unit;
  amount := trunc(amount);
  v_now := ${schema}.customer_time(account_id, mode, v_customer, v_clock);

  perform from ${schema}.settle_holds(account_id, mode, true, array[v_id], array[v_entry], array['committed'],
    array[amount], array[${millis("v_now")}]);
  if not found then
    -- The account is locked now. These are new statements, so they see what those before have committed.${readHold(schema)}${readAccount(schema)}
    amount := coalesce(amount, v_hold.amount);
    if v_hold.status in ('committed', 'released') then
      if v_hold.committed = amount then return ${holdBody(schema)}; end if;
      raise exception '%: commit is not possible: it is %', hold_id, case v_hold.status
        when 'committed' then 'committed with an amount of ' || v_hold.committed else v_hold.status end
        using errcode = 'BW409', detail = hold_id;
    end if;
    v_after := ${schema}.advance_credits(v_account, v_entry, v_now);
    -- A hold that has lapsed holds nothing any more: all of the amount is beyond it.
    v_held := case when v_hold.status = 'open' and v_hold.expires_at > v_now then v_hold.amount end;
    v_available := v_after.available + coalesce((
      select sum(g.available) from ${schema}.billing_credit_grants g
      where ${isOwn("g")} and g.is_live and g.scope ? v_hold.purpose
    ), 0);
    if overdraft = 'refuse' and amount - coalesce(v_held, 0) > v_available then${refuseUse("amount", "v_available + coalesce(v_held, 0)")}
    end if;
    if v_held is not null then
      v_after := ${schema}.return_credits(v_after, v_entry, 'commit', v_now, v_id, v_hold.slices, least(amount, v_held));
      v_after.open_holds := v_after.open_holds - 1;
    end if;
    v_after := ${schema}.spend_credits(v_after, v_entry, 'commit', v_now, v_id, null,
      greatest(amount - coalesce(v_held, 0), 0));
    update ${schema}.billing_credit_holds h set status = 'committed', committed = amount, is_late = v_held is null,
      settled_at = v_now
    where h.account_id = account_id and h.mode = mode and h.customer_id = v_customer and h.id = v_id;
    perform ${schema}.write_credits(v_account, v_after, v_clock);
  end if;
${readHold(schema)}
  return ${holdBody(schema)};
end
$$`,
  {
    isByIndex: true,
    comment:
      "Commits a hold of credits. Joins the current transaction. Raises BW400 (invalid), BW402 (not enough), BW404 (no such hold), BW409 (settled before).",
  },
)
