/**
 * Meters and their roll-ups.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * The keys of cells begin with the meter and its generation. So a summary of a customer reads one range, and the cells of
 * a generation that is no longer used are removed without a search.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const accountAndMode = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test'))`

// The tables that every append may write get only cheap checks.
const keyOfCells = `account_id text collate "C" not null check (char_length(account_id) between 1 and 64),
  mode text collate "C" not null check (mode in ('live', 'test')),
  meter_id uuid not null,
  generation integer not null,
  customer_id uuid not null,
  day date not null check (isfinite(day))`

const AGGREGATIONS = "'sum', 'count', 'max', 'latest', 'unique_count', 'time_weighted'"

export const migration0004: Migration = {
  id: 4,
  name: "meters",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.meters (
  ${accountAndMode},
  id uuid not null,
  key text collate "C" not null check (key ~ '^[a-z][a-z0-9_]{0,63}$'),
  name text check (char_length(name) between 1 and 255),
  product_id text collate "C" not null check (char_length(product_id) between 1 and 255),
  unit text collate "C" not null check (char_length(unit) between 1 and 64),
  aggregation text collate "C" not null check (aggregation in (${AGGREGATIONS})),
  dimensions jsonb not null check (jsonb_typeof(dimensions) = 'array'),
  counted text collate "C" check (char_length(counted) between 1 and 40),
  status text collate "C" not null check (status in ('building', 'ready', 'archived')),
  generation jsonb not null check (jsonb_typeof(generation) = 'number'),
  rebuild jsonb check (jsonb_typeof(rebuild) = 'object'),
  archived_at timestamptz(3) check (isfinite(archived_at)),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  updated_at timestamptz(3) not null check (isfinite(updated_at)),
  primary key (account_id, mode, id),
  constraint meters_key unique (account_id, mode, key)
)`,
    `comment on column ${schema}.meters.generation is
  'Which definition answers queries. The one that is being built has a higher number, in rebuild.'`,
    `create index meters_product on ${schema}.meters (account_id, mode, product_id, unit) where status <> 'archived'`,
    `create index meters_unfinished on ${schema}.meters (account_id, mode, id)
  where rebuild ->> 'status' <> 'failed'`,

    // The roll-ups that every append and void keeps up to date: those that have cells, and answer or are being built.
    `create view ${schema}.meter_rollups as
select m.account_id, m.mode, m.product_id, m.unit, m.id as meter_id, m.key as meter_key, r.generation,
  r.aggregation collate "C" as aggregation,
  array(select d.name from jsonb_array_elements_text(r.dimensions) with ordinality as d (name, number) order by d.number)
    collate "C" as dimensions,
  r.counted collate "C" as counted, r.is_building
from ${schema}.meters m cross join lateral (
  select m.generation::integer, m.aggregation collate "C", m.dimensions, m.counted collate "C", false
  where m.status = 'ready'
  union all
  select (m.rebuild ->> 'generation')::integer, (m.rebuild ->> 'aggregation') collate "C", m.rebuild -> 'dimensions',
    (m.rebuild ->> 'counted') collate "C", true
  where m.rebuild ->> 'status' = 'building'
) as r (generation, aggregation, dimensions, counted, is_building)
where m.status <> 'archived' and (r.aggregation not in ('sum', 'count') or r.dimensions <> '[]')`,
    `comment on view ${schema}.meter_rollups is
  'The roll-ups of meters with cells of their own that are kept up to date. The others read usage_daily.'`,

    `create table ${schema}.meter_cells (
  ${keyOfCells},
  combination text[] collate "C" not null check (cardinality(combination) <= 4),
  record_count bigint not null check (record_count >= 0),
  quantity numeric(38, 0) not null check (quantity >= 0 and quantity <> 'NaN'),
  first_at timestamptz(3),
  last_at timestamptz(3),
  last_key text collate "C",
  last_id uuid,
  last_quantity bigint,
  primary key (account_id, mode, meter_id, generation, customer_id, day, combination)
) with (fillfactor = 70)`,
    `comment on column ${schema}.meter_cells.combination is
  'The values of the dimensions that the meter declares, in their order. NULL where a record lacks one.'`,
    `comment on column ${schema}.meter_cells.quantity is
  'The sum (sum), the largest quantity (max), or level times milliseconds from the first to the last record (time_weighted). Otherwise 0.'`,
    // For the level that each combination had before a period. Other aggregations have no first_at.
    `create index meter_cells_levels
  on ${schema}.meter_cells (account_id, mode, meter_id, generation, customer_id, combination, day)
  where first_at is not null`,

    `create table ${schema}.meter_days (
  ${keyOfCells},
  combination_count integer not null check (combination_count >= 0),
  primary key (account_id, mode, meter_id, generation, customer_id, day)
) with (fillfactor = 70)`,
    `comment on table ${schema}.meter_days is
  'How many combinations a customer and UTC day has. Appends lock the row before they add one.'`,

    // What append_usage is told about a record that it must not store.
    `create type ${schema}.meter_refusal as (ordinal bigint, meter_key text, day date, dimension text)`,

    `create table ${schema}.meter_works (
  ${accountAndMode},
  meter_id uuid not null,
  target text collate "C" not null,
  xid xid8 not null,
  waits_for text[] collate "C",
  is_counted boolean not null default false,
  after_customer_id uuid,
  after_product_id text collate "C",
  after_unit text collate "C",
  after_day date,
  done bigint not null default 0 check (done >= 0),
  total bigint not null default 0 check (total >= 0),
  primary key (account_id, mode, meter_id)
)`,
    `comment on table ${schema}.meter_works is
  'How far the building or the removal of a roll-up is, and for which transactions it waits.'`,

    `create table ${schema}.meter_changes (
  is_only boolean primary key default true check (is_only),
  number bigint not null
)`,
    `insert into ${schema}.meter_changes (number) values (0)`,
    `comment on table ${schema}.meter_changes is
  'One row, updated when the roll-ups that appends serve have changed. Locking it fails for older snapshots.'`,
  ],
}
