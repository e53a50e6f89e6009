/**
 * Credits that plans grant.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * A subscription has at most one grant of a unit in a period. A change of the plan changes how much that is of, also to less
 * than what is held of it.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const grants = (schema: SchemaName): ReadonlyArray<string> => [
  `alter table ${schema}.billing_credit_grants
  add column source_period integer check (source_period >= 0),
  add column rollover_maximum numeric(38, 0) check (rollover_maximum >= 0),
  add column rollover_expires_at timestamptz(3) check (isfinite(rollover_expires_at)),
  add column steps jsonb check (jsonb_typeof(steps) = 'array'),
  drop constraint billing_credit_grants_source_type_check,
  drop constraint billing_credit_grants_amount_check,
  drop constraint billing_credit_grants_left,
  add constraint billing_credit_grants_source_type_check
    check (source_type in ('credit_note', 'invoice', 'subscription')),
  add constraint billing_credit_grants_source_period
    check ((source_type is not distinct from 'subscription') = (source_period is not null)),
  add constraint billing_credit_grants_amount_check check (amount > 0 or kind = 'plan' and amount = 0),
  add constraint billing_credit_grants_left check (available + held <= amount or kind = 'plan'),
  add constraint billing_credit_grants_rollover
    check ((rollover_maximum is null) = (rollover_expires_at is null) and rollover_expires_at >= expires_at)`,
  `drop index ${schema}.billing_credit_grants_of_source`,
  `create unique index billing_credit_grants_of_source
  on ${schema}.billing_credit_grants (account_id, mode, customer_id, unit, source_type, source_id, coalesce(source_period, 0))
  where source_id is not null`,
]

const entries = (schema: SchemaName): string => `alter table ${schema}.billing_credit_entries
  drop constraint billing_credit_entries_kind_check,
  add constraint billing_credit_entries_kind_check check (kind in (
    'grant', 'expire', 'void', 'consume', 'reserve', 'commit', 'release', 'lapse', 'repay', 'adjust', 'apply', 'restore'
  ))`

export const migration0035: Migration = {
  id: 35,
  name: "plan_grants",
  minReader: 1,
  statements: (schema: SchemaName) => [...grants(schema), entries(schema)],
}
