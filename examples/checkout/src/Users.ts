/**
 * The shop's own users: a name, an e-mail address and the customer in billing. They sign up without a password, because this
 * is an example: put your own login here.
 */
import { randomBytes } from "node:crypto"
import type { Billing } from "billwright"
import type { Pool } from "pg"

export interface User {
  readonly email: string
  readonly name: string
  readonly customerId: string
}

export interface NewUser {
  readonly email: string
  readonly name: string
}

export interface Users {
  /** Signs a user up. Gives the session for the cookie, or `undefined` if the address is taken. */
  signUp(user: NewUser): Promise<string | undefined>
  /** The user of a session. */
  find(session: string): Promise<User | undefined>
  /** Ends a session. */
  signOut(session: string): Promise<void>
}

const newSession = (): string => randomBytes(24).toString("base64url")

const inMemory = (billing: Billing): Users => {
  const emails = new Set<string>()
  const users = new Map<string, User>()
  return {
    signUp: async (user) => {
      if (emails.has(user.email)) return undefined
      emails.add(user.email)
      const session = newSession()
      users.set(session, { ...user, customerId: (await billing.customers.create(user)).id })
      return session
    },
    find: async (session) => users.get(session),
    signOut: async (session) => void users.delete(session),
  }
}

const inPostgres = async (billing: Billing, pool: Pool): Promise<Users> => {
  await pool.query(`
    create table if not exists shop_users (
      email text primary key, name text not null, customer_id text not null, session text unique
    )`)
  return {
    signUp: async ({ email, name }) => {
      const client = await pool.connect()
      try {
        await client.query("begin")
        // The user and the customer are stored together, or neither.
        const { id } = await billing.transaction(client, (tx) => tx.customers.create({ email, name }))
        const session = newSession()
        const add = "insert into shop_users values ($1, $2, $3, $4) on conflict do nothing"
        const { rowCount } = await client.query(add, [email, name, id, session])
        await client.query(rowCount === 1 ? "commit" : "rollback")
        return rowCount === 1 ? session : undefined
      } catch (error) {
        await client.query("rollback").catch(() => undefined)
        throw error
      } finally {
        client.release()
      }
    },
    find: async (session) => {
      const select = `select email, name, customer_id as "customerId" from shop_users where session = $1`
      return (await pool.query<User>(select, [session])).rows[0]
    },
    signOut: async (session) => {
      await pool.query("update shop_users set session = null where session = $1", [session])
    },
  }
}

/** Users in Postgres, or in memory without a pool. */
export const makeUsers = async (billing: Billing, pool: Pool | undefined): Promise<Users> =>
  pool === undefined ? inMemory(billing) : inPostgres(billing, pool)
