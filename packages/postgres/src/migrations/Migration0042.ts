/**
 * Proofs of invoices.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * A row is a proof, chained to the one before by its hash. `refuse_change_of_proof`, at once: what is signed doesn't change.
 * Whoever owns the table can remove triggers and rows. The chain and the signatures show that.
 *
 * Messages contain no values, because they reach logs.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp"

/** What is signed, and the signature. */
const SIGNED = ["hash", "document", "key_id", "signature", "created_at"]

const row = (alias: string): string => `(${SIGNED.map((name) => `${alias}.${name}`).join(", ")})`

export const migration0042: Migration = {
  id: 42,
  name: "invoice_proofs",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.invoice_proofs (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  invoice_id uuid not null,
  number text collate "C" not null check (char_length(number) between 1 and 100),
  hash text collate "C" not null check (hash ~ '^[0-9a-f]{64}$'),
  previous text collate "C" not null check (char_length(previous) between 64 and 100),
  document jsonb not null check (jsonb_typeof(document) = 'string'),
  key_id text collate "C" not null check (key_id ~ '^[A-Za-z0-9_-]{43}$'),
  signature text collate "C" not null check (signature ~ '^[A-Za-z0-9+/]{86}==$'),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, id),
  constraint invoice_proofs_previous unique (account_id, mode, previous)
)`,
    `comment on column ${schema}.invoice_proofs.previous is
  'The hash of the proof before: 64 zeros for the first. So nothing branches off.'`,
    `create index invoice_proofs_invoice on ${schema}.invoice_proofs (account_id, mode, invoice_id, id)`,
    `create function ${schema}.refuse_change_of_proof() returns trigger ${SETTINGS} as $$
begin
  raise exception 'what is signed of a proof does not change'
    using errcode = 'restrict_violation', table = 'invoice_proofs', constraint = 'invoice_proofs_are_final';
end
$$`,
    `create trigger invoice_proofs_are_final before update on ${schema}.invoice_proofs
for each row when (${row("old")} is distinct from ${row("new")}) execute function ${schema}.refuse_change_of_proof()`,
  ],
}
