/**
 * Usage as a good engineer would store it by hand: the records, and their daily roll-up, which the writer keeps in the same
 * statement.
 */
import type { Pool } from "pg"

export const TABLES = `
create table customers (id uuid primary key, account_id text not null, mode text not null);
create table usage_records (
  account_id text not null, mode text not null, customer_id uuid not null references customers,
  id uuid not null, product_id text not null, unit text not null, quantity bigint not null,
  occurred_at timestamptz(3) not null, idempotency_key text, created_at timestamptz(3) not null,
  primary key (account_id, mode, customer_id, id)
);
create unique index on usage_records (account_id, mode, customer_id, idempotency_key) where idempotency_key is not null;
create index on usage_records (account_id, mode, customer_id, occurred_at);
create table usage_daily (
  account_id text not null, mode text not null, customer_id uuid not null, product_id text not null,
  unit text not null, day date not null, quantity numeric not null, record_count bigint not null,
  primary key (account_id, mode, customer_id, product_id, unit, day)
) with (fillfactor = 70);
`

/** The values of a record: account, mode, customer, id, product, unit, quantity, time, key, and when it was created. */
type Values = readonly [string, string, string, string, string, string, number, string, string | null, string]

const COLUMNS =
  "account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, idempotency_key, created_at"

const ADD = `
on conflict (account_id, mode, customer_id, product_id, unit, day) do update
set quantity = d.quantity + excluded.quantity, record_count = d.record_count + excluded.record_count`

const RECORD = `
with recorded as (
  insert into usage_records (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
)
insert into usage_daily as d (account_id, mode, customer_id, product_id, unit, day, quantity, record_count)
values ($1, $2, $3, $5, $6, ($8::timestamptz at time zone 'UTC')::date, $7, 1)${ADD}`

/** Many records. The roll-ups are written in the order of their key, so that two statements never wait for each other. */
const RECORD_MANY = `
with given as (
  select * from unnest($1::text[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::bigint[],
    $8::timestamptz[], $9::text[], $10::timestamptz[]) as g (${COLUMNS})
), recorded as (
  insert into usage_records (${COLUMNS}) select ${COLUMNS} from given
)
insert into usage_daily as d (account_id, mode, customer_id, product_id, unit, day, quantity, record_count)
select account_id, mode, customer_id, product_id, unit, (occurred_at at time zone 'UTC')::date, sum(quantity), count(*)
from given group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6${ADD}`

/** The total and the count of a customer's records in some days, from the first to the last one. */
export const SUMMARY = `
select product_id, unit, sum(quantity)::text as total, sum(record_count)::integer as count from usage_daily
where account_id = $1 and mode = $2 and customer_id = $3 and day between $4 and $5 group by product_id, unit`

interface Waiting {
  readonly values: Values
  readonly done: () => void
  readonly fail: (error: unknown) => void
}

/** Writes records: each by itself, or with `gatherMillis` those that come in such a time together. */
export const makeRecorder = (pool: Pool, gatherMillis: number) => {
  const writeOne = async (values: Values): Promise<void> => {
    await pool.query({ name: "record", text: RECORD, values: [...values] })
  }
  if (gatherMillis === 0) return writeOne
  let waiting: Array<Waiting> = []

  const writeMany = async (group: ReadonlyArray<Waiting>): Promise<void> => {
    const columns = group[0]!.values.map((_, column) => group.map(({ values }) => values[column]))
    try {
      await pool.query({ name: "record many", text: RECORD_MANY, values: columns })
      for (const { done } of group) done()
    } catch {
      // One of them is refused: each by itself, so that the others are not.
      for (const { done, fail, values } of group) writeOne(values).then(done, fail)
    }
  }

  return (values: Values): Promise<void> =>
    new Promise((done, fail) => {
      waiting.push({ values, done, fail })
      if (waiting.length > 1) return
      setTimeout(() => {
        const group = waiting
        waiting = []
        void writeMany(group)
      }, gatherMillis)
    })
}
