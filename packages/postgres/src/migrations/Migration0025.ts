/**
 * Events of payment providers that were received, each once, and how payments are found by a provider's reference.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0025: Migration = {
  id: 25,
  name: "provider_events",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.billing_provider_events (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  provider text collate "C" not null check (char_length(provider) between 1 and 64),
  event_id text collate "C" not null check (char_length(event_id) between 1 and 255),
  received_at timestamptz(3) not null default now(),
  primary key (account_id, mode, provider, event_id)
)`,
    `comment on table ${schema}.billing_provider_events is
  'Events of payment providers that were received. Each counts once.'`,
    `create index billing_payments_by_reference
  on ${schema}.billing_payments (account_id, mode, provider, reference) where reference is not null`,
  ],
}
