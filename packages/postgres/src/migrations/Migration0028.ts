/**
 * Credits of customers.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * What Postgres refuses by itself, whoever writes:
 *
 * - An account, a grant or a hold with an amount below 0, an account with something available and a debt, a grant with more
 *   left than was granted, and a second grant, hold or consumption of an account with a key.
 * - `check_credit_account`, at commit: an account changes by what its new entries say, and by nothing else.
 * - `refuse_change_of_credit`, at once: entries and consumptions never change, and nothing is removed.
 *
 * Messages contain no values, because they reach logs.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off"

const TENANT = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null,
  unit text collate "C" not null check (unit ~ '^([A-Z]{3}|[a-z][a-z0-9_]{0,63})$')`

const KEY = `idempotency_key text collate "C" check (char_length(idempotency_key) between 1 and 255)`

const amount = (name: string): string => `${name} numeric(38, 0) not null check (${name} >= 0)`
const instant = (name: string): string => `${name} timestamptz(3) not null check (isfinite(${name}))`

const ofAccount = (schema: SchemaName, table: string): string =>
  `constraint ${table}_account foreign key (account_id, mode, customer_id, unit)
    references ${schema}.billing_credit_accounts`

const tables = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.billing_credit_accounts (
  ${TENANT},
  ${amount("available")},
  ${amount("held")},
  ${amount("debt")},
  open_holds integer not null check (open_holds >= 0),
  sequence bigint not null check (sequence >= 0),
  primary key (account_id, mode, customer_id, unit),
  constraint billing_credit_accounts_debt check (available = 0 or debt = 0)
)`,
  `create table ${schema}.billing_credit_grants (
  ${TENANT},
  id uuid not null,
  kind text collate "C" not null check (kind in ('paid', 'promotional', 'plan')),
  amount numeric(38, 0) not null check (amount > 0),
  priority integer not null check (priority between 0 and 100),
  ${instant("effective_at")},
  expires_at timestamptz(3) check (isfinite(expires_at)),
  status text collate "C" not null check (status in ('pending', 'active', 'expired', 'voided')),
  ${amount("available")},
  ${amount("held")},
  ${KEY},
  ${instant("created_at")},
  primary key (account_id, mode, customer_id, id),
  constraint billing_credit_grants_left check (available + held <= amount),
  constraint billing_credit_grants_over check (available = 0 or status = 'active'),
  constraint billing_credit_grants_time check (expires_at > effective_at),
  ${ofAccount(schema, "billing_credit_grants")}
)`,
  `create table ${schema}.billing_credit_holds (
  ${TENANT},
  id uuid not null,
  amount numeric(38, 0) not null check (amount > 0),
  slices jsonb not null check (jsonb_typeof(slices) = 'array'),
  ttl_seconds integer not null check (ttl_seconds between 1 and 604800),
  ${instant("expires_at")},
  status text collate "C" not null check (status in ('open', 'committed', 'released', 'lapsed')),
  committed numeric(38, 0) check (committed >= 0),
  is_late boolean not null,
  settled_at timestamptz(3) check (isfinite(settled_at)),
  ${KEY},
  ${instant("created_at")},
  primary key (account_id, mode, customer_id, id),
  constraint billing_credit_holds_settled check ((status = 'open') = (settled_at is null)),
  constraint billing_credit_holds_committed check ((status = 'committed') = (committed is not null)),
  constraint billing_credit_holds_late check (not is_late or status = 'committed'),
  ${ofAccount(schema, "billing_credit_holds")}
)`,
  `create table ${schema}.billing_credit_consumptions (
  ${TENANT},
  id uuid not null,
  amount numeric(38, 0) not null check (amount > 0),
  ${amount("available")},
  ${amount("held")},
  ${amount("debt")},
  ${KEY},
  ${instant("created_at")},
  primary key (account_id, mode, customer_id, id),
  ${ofAccount(schema, "billing_credit_consumptions")}
)`,
  `create table ${schema}.billing_credit_entries (
  ${TENANT},
  sequence bigint not null check (sequence >= 1),
  id uuid not null,
  kind text collate "C" not null check (
    kind in ('grant', 'expire', 'void', 'consume', 'reserve', 'commit', 'release', 'lapse', 'repay')
  ),
  grant_id uuid,
  hold_id uuid,
  consumption_id uuid,
  available numeric(38, 0) not null,
  held numeric(38, 0) not null,
  debt numeric(38, 0) not null,
  ${instant("at")},
  primary key (account_id, mode, customer_id, unit, sequence),
  constraint billing_credit_entries_something check ((available, held, debt) <> (0, 0, 0)),
  ${ofAccount(schema, "billing_credit_entries")},
  constraint billing_credit_entries_grant foreign key (account_id, mode, customer_id, grant_id)
    references ${schema}.billing_credit_grants,
  constraint billing_credit_entries_hold foreign key (account_id, mode, customer_id, hold_id)
    references ${schema}.billing_credit_holds,
  constraint billing_credit_entries_consumption foreign key (account_id, mode, customer_id, consumption_id)
    references ${schema}.billing_credit_consumptions
)`,
]

const keyed = ["grants", "holds", "consumptions"]

const indexes = (schema: SchemaName): ReadonlyArray<string> => [
  ...keyed.map(
    (name) => `create unique index billing_credit_${name}_key
  on ${schema}.billing_credit_${name} (account_id, mode, customer_id, unit, idempotency_key)
  where idempotency_key is not null`,
  ),
  ...["grants", "holds", "entries"].map(
    (name) =>
      `create index billing_credit_${name}_id on ${schema}.billing_credit_${name} (account_id, mode, id)`,
  ),
  ...["grants", "entries"].map(
    (name) => `create index billing_credit_${name}_of_customer
  on ${schema}.billing_credit_${name} (account_id, mode, customer_id, id)`,
  ),
  `create index billing_credit_entries_of_grant
  on ${schema}.billing_credit_entries (account_id, mode, customer_id, grant_id, id) where grant_id is not null`,
  `create index billing_credit_grants_live on ${schema}.billing_credit_grants (account_id, mode, customer_id, unit, id)
  where status = 'pending' or available > 0 or held > 0`,
  `create index billing_credit_holds_open
  on ${schema}.billing_credit_holds (account_id, mode, customer_id, unit, expires_at) where status = 'open'`,
]

const rules = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.check_credit_account() returns trigger ${SETTINGS} as $$
declare
  v_before bigint := 0;
  v_available numeric := 0;
  v_held numeric := 0;
  v_debt numeric := 0;
  v_is_sum boolean;
begin
  if tg_op = 'UPDATE' then
    v_before := old.sequence;
    v_available := old.available;
    v_held := old.held;
    v_debt := old.debt;
  end if;
  select count(*) = new.sequence - v_before
    and coalesce(sum(e.available), 0) = new.available - v_available
    and coalesce(sum(e.held), 0) = new.held - v_held
    and coalesce(sum(e.debt), 0) = new.debt - v_debt
  into v_is_sum
  from ${schema}.billing_credit_entries e
  where e.account_id = new.account_id and e.mode = new.mode and e.customer_id = new.customer_id and e.unit = new.unit
    and e.sequence > v_before and e.sequence <= new.sequence;
  if not v_is_sum then
    raise exception 'a credit account does not change by what its entries say'
      using errcode = 'check_violation', table = 'billing_credit_accounts', constraint = 'billing_credit_accounts_sums';
  end if;
  return null;
end
$$`,
  `create constraint trigger billing_credit_accounts_sums after insert or update on ${schema}.billing_credit_accounts
deferrable initially deferred for each row execute function ${schema}.check_credit_account()`,
  `create function ${schema}.refuse_change_of_credit() returns trigger ${SETTINGS} as $$
begin
  raise exception 'entries and consumptions of credits don''t change, and nothing of credits is removed'
    using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_table_name || '_are_final';
end
$$`,
  ...["entries", "consumptions"].map(
    (
      name,
    ) => `create trigger billing_credit_${name}_are_final before update or delete on ${schema}.billing_credit_${name}
for each row execute function ${schema}.refuse_change_of_credit()`,
  ),
  ...["accounts", "grants", "holds"].map(
    (
      name,
    ) => `create trigger billing_credit_${name}_are_final before delete on ${schema}.billing_credit_${name}
for each row execute function ${schema}.refuse_change_of_credit()`,
  ),
  ...["accounts", "grants", "holds", "entries", "consumptions"].map(
    (name) => `create trigger billing_credit_${name}_stay before truncate on ${schema}.billing_credit_${name}
for each statement execute function ${schema}.refuse_change_of_credit()`,
  ),
]

export const migration0028: Migration = {
  id: 28,
  name: "credits",
  minReader: 1,
  statements: (schema: SchemaName) => [...tables(schema), ...indexes(schema), ...rules(schema)],
}
