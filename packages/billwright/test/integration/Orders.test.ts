/**
 * A host creates its order, its customer and its subscription in one commit of its own. Nothing of it takes a number of an
 * invoice in the host's transaction, which may be open for long.
 */
import {
  type Billing,
  createBilling,
  PlanNotFoundError,
  SubscriptionNotFoundError,
  type Transaction,
} from "billwright"
import { postgres } from "billwright/postgres"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { rejection } from "../Rejection.ts"
import { makeDatabase } from "./Database.ts"
import { type Library, librariesOn } from "./Libraries.ts"

const plan = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } },
  ],
} as const

let database: Awaited<ReturnType<typeof makeDatabase>>
let pool: Pool
let billing: Billing

beforeAll(async () => {
  database = await makeDatabase()
  pool = new Pool({ connectionString: database.url, max: 1 })
  // Nothing runs by itself, so that a test sees drafts.
  billing = await createBilling({
    store: postgres({ url: database.url }),
    mode: "test",
    dispatcher: false,
    log: false,
  })
  await billing.plans.push(plan)
  await pool.query("create table orders (id text primary key, customer_id text, subscription_id text)")
})
afterAll(async () => {
  await pool.end()
  await billing.close()
  await database.drop()
})

/** Creates a customer and its subscription, and reads what was billed. */
const subscribe = async (tx: Transaction, name: string) => {
  const customer = await tx.customers.create({ name, email: "orders@example.com" })
  const subscription = await tx.subscriptions.create({
    customerId: customer.id,
    plan: "pro",
    quantities: { seats: "2" },
    metadata: { order: name },
  })
  const { data } = await tx.invoices.list({ subscriptionId: subscription.id }).page()
  assert.deepStrictEqual(
    data.map(({ number, status, total }) => ({ number, status, total })),
    [{ number: null, status: "draft", total: 3000n }],
  )
  return { customerId: customer.id, subscriptionId: subscription.id, invoiceId: data[0]!.id }
}

const count = async (table: string): Promise<number> =>
  Number((await pool.query(`select count(*) from ${table}`)).rows[0].count)

const everything = async () => ({
  orders: await count("orders"),
  customers: await count("billwright.customers"),
  subscriptions: await count("billwright.subscriptions"),
  invoices: await count("billwright.invoices"),
  events: await count("billwright.events"),
})

it("refuses the key of a plan that no database could store as one that there is not", async () => {
  const { id } = await billing.customers.create({ name: "Grace", email: "grace@example.com" })
  const error = await rejection(billing.subscriptions.create({ customerId: id, plan: "a\0b" }))
  assert.instanceOf(error, PlanNotFoundError)
})

for (const [name, make] of Object.entries(librariesOn(() => ({ url: database.url, pool })))) {
  describe(`an order on ${name}`, () => {
    let library: Library
    beforeAll(() => {
      library = make()
    })
    afterAll(() => library.close())

    it("has its customer and its subscription after the commit", async () => {
      let made: Awaited<ReturnType<typeof subscribe>> | undefined
      await library.begin(async (client, execute) => {
        made = await billing.transaction(client, (tx) => subscribe(tx, name))
        await execute(`insert into orders values ('${name}', '${made.customerId}', '${made.subscriptionId}')`)
        // Others don't see it before the commit.
        assert.instanceOf(
          await rejection(billing.subscriptions.get(made.subscriptionId)),
          SubscriptionNotFoundError,
        )
      })
      assert.isDefined(made)
      const subscription = await billing.subscriptions.get(made.subscriptionId)
      assert.deepInclude(subscription, { phase: "active", metadata: { order: name } })
      const { rows } = await pool.query("select * from orders where id = $1", [name])
      assert.deepInclude(rows[0], { customer_id: subscription.customerId, subscription_id: subscription.id })
      const { data } = await billing.events.list({ customerId: made.customerId }).page()
      assert.deepStrictEqual(
        data.map(({ type }) => type),
        ["subscription.activated", "invoice.created", "subscription.created"],
      )
    })

    it("leaves nothing behind after a rollback", async () => {
      const before = await everything()
      const rollback = new Error("rollback")
      const failed = library.begin(async (client, execute) => {
        const made = await billing.transaction(client, (tx) => subscribe(tx, name))
        await execute(`insert into orders values ('other ${name}', '${made.customerId}', null)`)
        await billing.transaction(client, (tx) => tx.subscriptions.cancel(made.subscriptionId, { at: "now" }))
        throw rollback
      })
      assert.strictEqual(await rejection(failed), rollback)
      assert.deepStrictEqual(await everything(), before)
    })

    it("goes on after a call that was refused, which undoes only itself", async () => {
      const rollback = new Error("rollback")
      const failed = library.begin(async (client) => {
        await billing.transaction(client, async (tx) => {
          const { subscriptionId } = await subscribe(tx, name)
          for (const refused of [
            tx.subscriptions.resume(subscriptionId),
            tx.subscriptions.change(subscriptionId, { quantities: { seats: "many" } }),
            tx.subscriptions.change(subscriptionId, { plan: "gold", at: "now" }),
          ]) {
            await rejection(refused)
          }
          const changed = await tx.subscriptions.change(subscriptionId, { quantities: { seats: "3" } })
          assert.deepStrictEqual(changed.quantities, { seats: "3" })
        })
        throw rollback
      })
      assert.strictEqual(await rejection(failed), rollback)
    })

    it("in an open transaction holds up nobody's numbers", async () => {
      const customer = await billing.customers.create({ name: "Grace", email: "grace@example.com" })
      const quantities = { seats: "1" }
      const issue = async () => {
        const { id } = await billing.subscriptions.create({
          customerId: customer.id,
          plan: "pro",
          quantities,
        })
        await billing.runDue()
        const [invoice] = (await billing.invoices.list({ subscriptionId: id }).page()).data
        assert.isNotNull(invoice?.number)
        return invoice!
      }
      const first = await issue()
      const rollback = new Error("rollback")
      const failed = library.begin(async (client) => {
        await billing.transaction(client, async (tx) => {
          const { subscriptionId } = await subscribe(tx, name)
          await tx.subscriptions.change(subscriptionId, { quantities: { seats: "9" } })
          await tx.subscriptions.pause(subscriptionId)
          await tx.subscriptions.resume(subscriptionId)
          await tx.subscriptions.cancel(subscriptionId, { at: "now" })
          await tx.invoices.void(first.id)
        })
        // The transaction is still open. It would wait here if the transaction had locked the series of numbers.
        const next = await issue()
        assert.strictEqual(numberOf(next.number), numberOf(first.number) + 1)
        throw rollback
      })
      assert.strictEqual(await rejection(failed), rollback)
      assert.strictEqual((await billing.invoices.get(first.id)).status, "open")
    })
  })
}

const numberOf = (number: string | null): number => Number(number?.slice("2026-".length))
