/**
 * Search for customers by part of their name or e-mail address.
 *
 * `search_text` is what core makes of both (`Customer.searchText`), so that every storage takes the same letters for
 * equal. Its index holds all pieces of three letters, each with the tenant before it: what has a text has all pieces
 * of it. It is made with what Postgres brings along: the extension for this (`pg_trgm`) is not there everywhere, and
 * not everybody may create it.
 */
import type { Migration } from "./Migration.ts"
import { FIXED_PATH } from "./SearchPath.ts"

export const migration0006: Migration = {
  id: 6,
  name: "customer_search",
  minReader: 2,
  statements: (schema) => [
    `alter table ${schema}.customers add column search_text text collate "C",
  add constraint customers_search check (erased_at is null or search_text is null)`,
    `update ${schema}.customers set search_text = lower(name) || chr(10) || lower(email) where erased_at is null`,
    `create function ${schema}.customer_search_keys(p_account_id text, p_mode text, p_text text) returns text[]
language sql immutable strict parallel safe ${FIXED_PATH} as $$
  select array_agg(distinct p_account_id || '/' || p_mode || '/' || substr(p_text, n, 3))
  from generate_series(1, char_length(p_text) - 2) as n
$$`,
    `create index customers_search on ${schema}.customers
  using gin (${schema}.customer_search_keys(account_id, mode, search_text)) where search_text is not null`,
  ],
}
