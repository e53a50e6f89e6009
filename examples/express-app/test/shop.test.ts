import { randomUUID } from "node:crypto"
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { createBilling } from "billwright"
import { createClient } from "billwright/client"
import { postgres } from "billwright/postgres"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Client } from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startShop } from "./Shop.ts"

const scope = Scope.makeUnsafe()
let folder: string
let url: string
let admin: Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "billwright-express-app-"))
  await chmod(folder, 0o755) // for root, whose Postgres runs as another user
  const server = EmbeddedPostgres.start({ directory: join(folder, "data"), settings: { fsync: "off" } })
  url = await newDatabase(
    Redacted.value((await Effect.runPromise(Scope.provide(server, scope))).superuserUrl),
  )
  admin = new Client({ connectionString: url })
  await admin.connect()
})

afterAll(async () => {
  await admin.end()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await rm(folder, { recursive: true, force: true })
})

/**
 * A new database and a user for the shop, which the superuser makes.
 */
const newDatabase = async (serverUrl: string): Promise<string> => {
  const server = new Client({ connectionString: serverUrl })
  await server.connect()
  const password = randomUUID()
  await server.query(`create role shop login password '${password}'`)
  await server.query("create database shop owner shop")
  await server.end()
  const own = new URL(serverUrl)
  return Object.assign(own, { username: "shop", password, pathname: "/shop" }).href
}

const send = async (method: string, address: string, body?: unknown): Promise<number> => {
  const response = await fetch(address, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  return response.status
}

const newApiKey = async (): Promise<string> => {
  await using billing = await createBilling({ store: postgres({ url }), dispatcher: false })
  return (await billing.keys.create({ name: "test" })).secret
}

const ordersOf = async (customerId: string) =>
  (await admin.query("select id, items from orders where customer_id = $1 order by items", [customerId])).rows

describe("the shop", () => {
  it("gets billing by fewer than 20 new lines, and no line is removed", async () => {
    const linesOf = async (name: string) => {
      const text = await readFile(new URL(`../src/${name}`, import.meta.url), "utf8")
      return text.split("\n").filter((line) => !/^\s*(\/\/.*|\/\*\*.*)?$/.test(line))
    }
    const [before, after] = [await linesOf("shop.ts"), await linesOf("shop-with-billing.ts")]
    const added = [...after]
    for (const line of before) {
      expect(added).toContain(line)
      added.splice(added.indexOf(line), 1)
    }
    expect(added.length).toBeGreaterThan(0)
    expect(added.length).toBeLessThan(20)
  })

  it("bills orders and publishes payments, also for customers from before billing", async () => {
    const customerId = randomUUID()
    const [first, second] = [randomUUID(), randomUUID()]
    {
      await using shop = await startShop("shop.ts", url)
      const ada = { name: "Ada Lovelace", email: "ada@example.com" }
      expect(await send("PUT", `${shop.url}/customers/${customerId}`, ada)).toBe(204)
      const before = { customerId, items: 100, cents: 100 }
      expect(await send("PUT", `${shop.url}/orders/${randomUUID()}`, before)).toBe(204)
      expect(await send("GET", `${shop.url}/billing/livez`)).toBe(404)
    }

    await using shop = await startShop("shop-with-billing.ts", url)
    const order = (id: string, items: number) =>
      send("PUT", `${shop.url}/orders/${id}`, { customerId, items, cents: 1250 })
    expect(await Promise.all([order(first, 3), order(second, 4), order(first, 3)])).toEqual([204, 204, 204])
    // The first orders of a customer, all at once. One of them creates the customer in billing.
    const newcomer = randomUUID()
    await send("PUT", `${shop.url}/customers/${newcomer}`, { name: "Cy", email: "cy@example.com" })
    const bulk = { customerId: newcomer, items: 1, cents: 1 }
    const orders = Array.from({ length: 8 }, () => send("PUT", `${shop.url}/orders/${randomUUID()}`, bulk))
    expect(new Set(await Promise.all(orders))).toEqual(new Set([204]))

    const pay = () => send("POST", `${shop.url}/orders/${first}/payment`)
    expect((await Promise.all([pay(), pay()])).toSorted()).toEqual([204, 409])

    expect(await send("GET", `${shop.url}/billing/v1/customers`)).toBe(401)
    const apiKey = await newApiKey()
    const billing = createClient({ url: `${shop.url}/billing`, apiKey })
    const customers = await billing.customers.list({ email: "ada@example.com" }).page()
    expect(customers.data.map(({ name }) => name)).toEqual(["Ada Lovelace"])
    const billingId = customers.data[0]!.id
    expect(await billing.usage.summary({ customerId: billingId })).toMatchObject({
      totalQuantity: 7n,
      unit: "item",
      recordCount: 2,
    })
    const events = await billing.events.list({ customerId: billingId }).page()
    expect(events.data.map(({ data, type }) => ({ data, type }))).toEqual([
      {
        type: "invoice.paid",
        data: { invoice_id: first, customer_id: billingId, amount: 1250, currency: "EUR" },
      },
    ])
    const headers = { authorization: `Bearer ${apiKey}` }
    const stream = await fetch(`${shop.url}/billing/v1/events/stream`, { headers })
    expect(await shop.stop(), "with an open stream").toBe(0)
    expect(await stream.text()).toBe("retry: 1000\n\n")
  })

  it("stores neither an order nor its usage when billing or the database refuses", async () => {
    await using shop = await startShop("shop-with-billing.ts", url)
    const customerId = randomUUID()
    await send("PUT", `${shop.url}/customers/${customerId}`, { name: "Bob", email: "bob@example.com" })
    const order = (id: string, items: number) =>
      send("PUT", `${shop.url}/orders/${id}`, { customerId, items, cents: 100 })
    const id = randomUUID()
    expect(await order(id, 1)).toBe(204)
    expect(await order(id, 2), "the same order with other items").toBe(500)
    expect(await order(randomUUID(), -1)).toBe(500)
    // Refused at the commit, after both were written.
    await admin.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise 'refused'; end $$`)
    await admin.query(`create constraint trigger refuse after insert on orders deferrable initially deferred
      for each row when (new.items = 13) execute function refuse()`)
    expect(await order(randomUUID(), 13)).toBe(500)
    expect(await ordersOf(customerId)).toEqual([{ id, items: 1 }])

    const billing = createClient({ url: `${shop.url}/billing`, apiKey: await newApiKey() })
    const { data } = await billing.customers.list({ email: "bob@example.com" }).page()
    expect(await billing.usage.summary({ customerId: data[0]!.id })).toMatchObject({ totalQuantity: 1n })
  })
})
