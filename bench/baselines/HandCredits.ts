/**
 * Credits as a good engineer would write them by hand: a conditional update of the account, and the record beside it, in one
 * statement. It knows no grants, no expiry, no holds and no answers to repeated keys: a second record with a key is refused.
 */
import { randomUUID } from "node:crypto"
import { Pool } from "pg"
import { connected } from "../Fill.ts"

const TABLES = `
create table hand_accounts (
  id uuid primary key,
  used bigint not null check (used >= 0),
  cap bigint not null check (used <= cap)
) with (fillfactor = 70);
create table hand_records (
  id uuid primary key,
  account_id uuid not null references hand_accounts,
  amount bigint not null,
  idempotency_key text not null,
  at timestamptz not null,
  unique (account_id, idempotency_key)
)`

const CONSUME = `
with taken as (
  update hand_accounts set used = used + $2 where id = $1 and used + $2 <= cap returning id, cap - used as available
), recorded as (
  insert into hand_records (id, account_id, amount, idempotency_key, at) select $3, id, $2, $4, now() from taken
)
select available from taken`

const FIND = "select used, cap from hand_accounts where id = $1"

export interface HandCredits {
  readonly consume: (account: number, key: string) => Promise<void>
  readonly find: (account: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens accounts, and as many connections as there are callers. */
export const make = async (url: string, accounts: number, callers: number): Promise<HandCredits> => {
  const ids = Array.from({ length: accounts }, () => randomUUID())
  await connected(url, async (client) => {
    await client.query(TABLES)
    await client.query(
      "insert into hand_accounts (id, used, cap) select unnest($1::uuid[]), 0, 1000000000000",
      [ids],
    )
    await client.query("vacuum analyze hand_accounts")
  })
  const pool = new Pool({ connectionString: url, max: callers, min: callers })
  return {
    consume: async (account, key) => {
      const values = [ids[account], 1, uuidV7(), key]
      const { rows } = await pool.query({ name: "consume", text: CONSUME, values })
      if (rows.length !== 1) throw new Error("nothing was taken")
    },
    find: async (account) => {
      const { rows } = await pool.query({ name: "find", text: FIND, values: [ids[account]] })
      if (rows.length !== 1) throw new Error("no account was found")
    },
    close: () => pool.end(),
  }
}

/** Rising ids: random ones would make the index slower. */
const uuidV7 = (): string => {
  const time = Date.now().toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
