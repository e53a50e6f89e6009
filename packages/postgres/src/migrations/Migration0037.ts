/**
 * Rate cards.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * A row is a version. `refuse_change_of_rate_card`, at once: of a version, only the name and the status change.
 *
 * Messages contain no values, because they reach logs.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp"

/** What never changes of a version. */
const TERMS = ["key", "version", "reference", "hash", "unit", "decimals", "markup", "models", "created_at"]

const row = (alias: string): string => `(${TERMS.map((name) => `${alias}.${name}`).join(", ")})`

export const migration0037: Migration = {
  id: 37,
  name: "rate_cards",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.rate_cards (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  name text collate "C" check (char_length(name) between 1 and 200),
  key text collate "C" not null check (char_length(key) between 1 and 64),
  version jsonb not null check (jsonb_typeof(version) = 'number' and version between '1' and '2147483647'),
  reference text collate "C" not null check (char_length(reference) between 1 and 100),
  hash text collate "C" not null check (hash ~ '^[0-9a-f]{64}$'),
  unit text collate "C" not null check (char_length(unit) between 1 and 64),
  decimals jsonb check (jsonb_typeof(decimals) = 'number'),
  markup text collate "C" check (char_length(markup) between 1 and 31),
  models jsonb not null check (jsonb_typeof(models) = 'object'),
  status text collate "C" not null check (status in ('current', 'superseded')),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, id),
  constraint rate_cards_reference unique (account_id, mode, reference)
)`,
    `create index rate_cards_key on ${schema}.rate_cards (account_id, mode, key, status, id)`,
    `create function ${schema}.refuse_change_of_rate_card() returns trigger ${SETTINGS} as $$
begin
  raise exception 'the terms of a published rate card don''t change: push the card with other terms, which makes a new version'
    using errcode = 'restrict_violation', table = 'rate_cards', constraint = 'rate_cards_are_final';
end
$$`,
    `create trigger rate_cards_are_final before update on ${schema}.rate_cards
for each row when (${row("old")} is distinct from ${row("new")}) execute function ${schema}.refuse_change_of_rate_card()`,
  ],
}
