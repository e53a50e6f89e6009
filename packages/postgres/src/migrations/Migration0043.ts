/**
 * Token usage: the tokens of calls of language models, and what was charged for them.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const text = (name: string, longest: number): string =>
  `${name} text collate "C" check (char_length(${name}) between 1 and ${longest})`

const json = (name: string, type: "array" | "object"): string =>
  `${name} jsonb check (jsonb_typeof(${name}) = '${type}')`

export const migration0043: Migration = {
  id: 43,
  name: "token usage",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.token_usages (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null,
  id uuid not null,
  ${text("rate_card", 64)} not null,
  version jsonb not null check (jsonb_typeof(version) = 'number' and version >= '1'),
  ${text("model", 200)} not null,
  ${json("tokens", "object")} not null,
  unit text collate "C" not null check (unit ~ '^([A-Z]{3}|[a-z][a-z0-9_]{0,63})$'),
  status text collate "C" not null check (status in ('rated', 'unrated', 'waived')),
  amount numeric(31, 0) check (amount between 0 and 1e30 and amount <> 'NaN'),
  ${text("exact", 100)},
  ${json("steps", "array")} not null,
  ${json("unpriced", "array")},
  hold_id uuid,
  consumption_id uuid,
  ${text("idempotency_key", 255)},
  ${text("waived_by", 200)},
  ${text("waive_reason", 1_000)},
  settled_at timestamptz(3) check (isfinite(settled_at)),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, customer_id, id)
)`,
    `create unique index token_usages_id on ${schema}.token_usages (account_id, mode, id)`,
    `create unique index token_usages_of_hold on ${schema}.token_usages (account_id, mode, customer_id, hold_id)
  where hold_id is not null`,
    `create unique index token_usages_key
  on ${schema}.token_usages (account_id, mode, customer_id, idempotency_key) where idempotency_key is not null`,
    `create index token_usages_hold on ${schema}.token_usages (account_id, mode, hold_id, id) where hold_id is not null`,
    `create index token_usages_model on ${schema}.token_usages (account_id, mode, model, id)`,
    `create index token_usages_open on ${schema}.token_usages (account_id, mode, status, id) where status <> 'rated'`,
  ],
}
