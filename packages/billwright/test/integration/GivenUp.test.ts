/**
 * A transaction that is given up while a call of two statements is running: the second one comes neither after its ROLLBACK nor
 * into a transaction of somebody else.
 */
import { randomUUID } from "node:crypto"
import {
  type Billing,
  createBilling,
  StorageUnavailableError,
  type Transaction,
  TransactionEndedError,
} from "billwright"
import { type PgPool, postgres } from "billwright/postgres"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { rejection } from "../Rejection.ts"
import { makeDatabase } from "./Database.ts"

const ada = { name: "Ada Lovelace", email: "ada@example.com" }
const SHORT_MILLIS = 500

let database: Awaited<ReturnType<typeof makeDatabase>>
/** It has one connection, so that transactions wait for each other. */
let pool: Pool
let billing: Billing
/** The same with little time. */
let hurried: Billing
/** Each test has its own. */
let accountId: string
/** Is called after the first statement of `create`, before the library gets the answer. */
let halfway: () => unknown

/** Sends two statements: the customer, and what the audit log says of it. */
const create = (tx: Transaction) => tx.customers.create(ada)
const FIRST = 'insert into "billwright".customers'

const query = async (client: { query: Pool["query"] }, text: string, values: Array<unknown>) => {
  const result = await client.query(text, values)
  if (text.includes(FIRST)) await halfway()
  return result
}

beforeAll(async () => {
  database = await makeDatabase()
  pool = new Pool({ connectionString: database.url, max: 1 })
  const observed: PgPool = {
    connect: async () => {
      const client = await pool.connect()
      return {
        query: (text, values) => query(client, text, values),
        release: (isBroken) => client.release(isBroken),
      }
    },
  }
  const start = (options: { readonly deadlineMillis?: number }) =>
    createBilling({ store: postgres({ pool: observed, ...options }), dispatcher: false, log: false })
  billing = await start({})
  hurried = await start({ deadlineMillis: SHORT_MILLIS })
})
afterAll(async () => {
  await hurried.close()
  await billing.close()
  await pool.end()
  await database.drop()
})
beforeEach(() => {
  halfway = () => {}
  accountId = randomUUID()
})

/** How many customers there are, and how many of them the audit log knows. */
const stored = async () => {
  const { rows } = await pool.query(
    `select (select count(*) from billwright.customers where account_id = $1)::int as customers,
  (select count(*) from billwright.audit_records where account_id = $1)::int as records`,
    [accountId],
  )
  return rows[0]
}

/**
 * Begins a transaction that calls `create`, and halfway makes another one wait for the connection, and calls `giveUp`. The call goes
 * on when the other transaction has the connection.
 */
const crossed = async (
  begin: (work: (tx: Transaction) => Promise<unknown>) => Promise<unknown>,
  giveUp: () => void,
) => {
  const [otherHasBegun, callHasEnded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let other: Promise<unknown> | undefined
  let call: Promise<unknown> | undefined
  halfway = () => {
    halfway = () => {}
    other = billing.forAccount(accountId).transaction(async (tx) => {
      otherHasBegun.resolve()
      await callHasEnded.promise
      await create(tx)
    })
    giveUp()
    return otherHasBegun.promise
  }
  const error = await rejection(
    begin(async (tx) => {
      call = create(tx).finally(callHasEnded.resolve)
      await call
    }),
  )
  await other
  const [outcome] = await Promise.allSettled([call])
  return { error, callError: outcome.status === "rejected" ? outcome.reason : undefined }
}

describe("a transaction that is given up during a call", () => {
  it("by its signal leaves nothing behind, and nothing in another transaction", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const { callError, error } = await crossed(
      (work) => billing.forAccount(accountId).transaction(work, { signal: controller.signal }),
      () => controller.abort(reason),
    )
    assert.deepStrictEqual(await stored(), { customers: 1, records: 1 })
    assert.strictEqual(error, reason)
    assert.instanceOf(callError, TransactionEndedError)
    assert.match(callError.message, /was given up before the call had finished/)
  })

  it("by its deadline does so, too", async () => {
    const { callError, error } = await crossed(
      (work) => hurried.forAccount(accountId).transaction(work),
      () => {},
    )
    assert.deepStrictEqual(await stored(), { customers: 1, records: 1 })
    assert.instanceOf(error, StorageUnavailableError)
    assert.instanceOf(callError, TransactionEndedError)
  })

  it("ends although the statement that is running never does", async () => {
    const controller = new AbortController()
    halfway = () => {
      controller.abort()
      return new Promise(() => {})
    }
    await rejection(billing.forAccount(accountId).transaction(create, { signal: controller.signal }))
    assert.deepStrictEqual(await stored(), { customers: 0, records: 0 })
  })

  it("starts none of the calls that wait for their turn", async () => {
    const controller = new AbortController()
    const work = async (tx: Transaction) => {
      const calls = [create(tx), create(tx)]
      for (const call of calls) assert.instanceOf(await rejection(call), TransactionEndedError)
      ended.resolve()
    }
    const ended = Promise.withResolvers<void>()
    let count = 0
    halfway = () => {
      count++
      controller.abort()
    }
    await rejection(billing.forAccount(accountId).transaction(work, { signal: controller.signal }))
    await ended.promise
    assert.strictEqual(count, 1)
  })

  it("of the host completes the call first, because the host may commit", async () => {
    const client = await pool.connect()
    const controller = new AbortController()
    const reason = new Error("enough")
    const observed = { query: (text: string, values: Array<unknown>) => query(client, text, values) }
    halfway = () => controller.abort(reason)
    await client.query("begin")
    const failed = billing
      .forAccount(accountId)
      .transaction(observed, (tx) => Promise.all([create(tx), rejection(create(tx))]), {
        signal: controller.signal,
      })
    assert.strictEqual(await rejection(failed), reason)
    await client.query("commit")
    client.release()
    assert.deepStrictEqual(await stored(), { customers: 1, records: 1 })
  })
})

describe("the abort of the host's transaction", () => {
  it("ends within a second or so although the statement that is running never does", async () => {
    const client = await pool.connect()
    const controller = new AbortController()
    const reason = new Error("enough")
    const observed = { query: (text: string, values: Array<unknown>) => query(client, text, values) }
    halfway = () => {
      controller.abort(reason)
      return new Promise(() => {})
    }
    await client.query("begin")
    const failed = billing.forAccount(accountId).transaction(observed, create, { signal: controller.signal })
    assert.strictEqual(await rejection(failed), reason)
    await client.query("rollback")
    client.release()
    assert.deepStrictEqual(await stored(), { customers: 0, records: 0 })
  })
})

describe("closing", () => {
  it("does not wait for the function of a transaction that was given up", async () => {
    const controller = new AbortController()
    const closing = await createBilling({ store: postgres({ pool }), dispatcher: false, log: false })
    const work = async (tx: Transaction) => {
      await create(tx)
      controller.abort()
      await new Promise(() => {})
    }
    await rejection(closing.forAccount(accountId).transaction(work, { signal: controller.signal }))
    await closing.close()
    assert.deepStrictEqual(await stored(), { customers: 0, records: 0 })
  })
})
