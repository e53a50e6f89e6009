/** Forks on Postgres: they answer what really happens there, and leave no trace. */
import { postgres } from "billwright/postgres"
import { createTestBilling } from "billwright/testing"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { begin, eventIdsOf, happen, HISTORY, pictureOf, saveDefault, subscribe, use } from "../Forks.ts"
import { makeDatabase } from "./Database.ts"

let database: Awaited<ReturnType<typeof makeDatabase>>
let pool: Pool
let world: Awaited<ReturnType<typeof begin>>
let customerId: string
let subscriptionId: string

beforeAll(async () => {
  database = await makeDatabase()
  pool = new Pool({ connectionString: database.url })
  world = await begin({ store: postgres({ pool }) })
  const { billing } = world
  await billing.testing.endpoint()
  const other = await billing.testing.customer()
  await subscribe(billing, other.id)
  customerId = (await billing.testing.customer({ name: "Grace Hopper", email: "grace@example.com" })).id
  subscriptionId = await subscribe(billing, customerId)
  for (const event of HISTORY) {
    await happen(world, { customerId, subscriptionId }, event)
    await billing.testing.advance({ days: 6 })
  }
  await happen(world, { customerId, subscriptionId }, "pause")
  await saveDefault(world, customerId, {})
  await billing.testing.advance({ days: 1 })
})
afterAll(async () => {
  await world.billing.close()
  await pool.end()
  await database.drop()
})

/** All that is stored, and what was asked of the world outside. */
const trace = async () => {
  const { rows: tables } = await pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'billwright' and table_type = 'BASE TABLE' order by 1",
  )
  const found: Record<string, unknown> = {}
  for (const { name } of tables) {
    const { rows } = await pool.query(
      `select count(*) as count, md5(string_agg(t::text, '|' order by t::text)) as content from billwright."${name}" t`,
    )
    found[name] = rows[0]
  }
  const { rows: sequences } = await pool.query(
    "select sequencename, last_value from pg_sequences where schemaname = 'billwright' order by 1",
  )
  const { payments } = world
  const outside = { payments: payments.payments, refunds: payments.refunds, notices: payments.notices.length }
  return { found, sequences, outside }
}

type Calls = Parameters<typeof use>[0]

/** Months, in a fork and for real. */
const go = async (calls: Calls, advance: (days: number) => Promise<void>): Promise<void> => {
  await calls.subscriptions.change(subscriptionId, { quantities: { seats: 9 }, at: "now" })
  await use(calls, customerId, 33)
  await advance(40)
  await calls.subscriptions.change(subscriptionId, { plan: "team", at: "period_end" })
  await advance(60)
}

describe("a fork on Postgres", () => {
  it("leaves no trace: no row, no number, no webhook, no call of the payment provider", async () => {
    const before = await trace()
    assert.isAbove(Object.keys(before.found).length, 30)
    const picture = await world.billing.fork(customerId, async (f) => {
      await f.endpoints.create({ url: "https://fork.example.com/", eventTypes: ["*"] })
      await go(f, (days) => f.advance({ days }))
      return pictureOf(f, customerId, new Set())
    })
    assert.isAbove(picture.length, 50)
    assert.deepStrictEqual(await trace(), before)
    assert.deepStrictEqual(world.billing.testing.receiver("https://fork.example.com/").requests, [])
  })

  it("reads what the host's transaction has written, and nothing of others", async () => {
    const client = await pool.connect()
    await client.query("begin")
    try {
      const descriptions = await world.billing.transaction(client, async (tx) => {
        await tx.invoiceItems.create({ customerId, currency: "EUR", amount: 100, description: "In here" })
        return tx.fork(customerId, async (f) => {
          const { data } = await f.invoiceItems.list({ status: "pending" }).page()
          return data.map(({ description }) => description)
        })
      })
      assert.deepStrictEqual(descriptions, ["In here"])
      const outside = await world.billing.fork(customerId, async (f) =>
        f.invoiceItems.list({ status: "pending" }),
      )
      assert.deepStrictEqual(outside, [])
    } finally {
      await client.query("rollback")
      client.release()
    }
  })

  it("comes to the same as what really happens, and so does its export in a test", async () => {
    const { billing } = world
    const known = await eventIdsOf(billing)
    const forked = await billing.fork(customerId, async (f) => {
      await go(f, (days) => f.advance({ days }))
      return pictureOf(f, customerId, new Set())
    })
    const snapshot = await billing.exportCustomer(customerId, { personalData: false })
    assert.notMatch(snapshot, /Grace|grace@example/)
    await using again = await createTestBilling({ snapshot })
    assert.deepStrictEqual(again.testing.now, billing.testing.now)
    await go(again, (days) => again.testing.advance({ days }))
    assert.deepStrictEqual(await pictureOf(again, customerId, new Set()), forked)
    await go(billing, (days) => billing.testing.advance({ days }))
    const real = await pictureOf(billing, customerId, known)
    // The other customer of the account takes numbers and publishes events of its own.
    const amountsOf = (lines: ReadonlyArray<string>) =>
      lines.flatMap((line) => /"total":"(-?\d+)n"/.exec(line)?.[1] ?? [])
    assert.deepStrictEqual(amountsOf(forked), amountsOf(real))
  })
})
