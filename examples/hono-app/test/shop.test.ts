import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { createClient } from "billwright/client"
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startShop } from "./Shop.ts"

const scope = Scope.makeUnsafe()
let folder: string
let databaseUrl: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "billwright-hono-app-"))
  await chmod(folder, 0o755) // for root, whose Postgres runs as another user
  const server = EmbeddedPostgres.start({ directory: join(folder, "data"), settings: { fsync: "off" } })
  databaseUrl = Redacted.value((await Effect.runPromise(Scope.provide(server, scope))).url)
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await rm(folder, { recursive: true, force: true })
})

const send = async (method: string, url: string, body?: unknown) => {
  const response = await fetch(url, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) }
}

const newCustomer = async (url: string): Promise<string> => {
  const ada = { name: "Ada Lovelace", email: "ada@example.com" }
  const { body, status } = await send("POST", `${url}/customers`, ada)
  expect(status).toBe(201)
  return (body as { id: string }).id
}

describe.each(["memory", "Postgres"])("the shop, in %s", (kind) => {
  const environment = (): Record<string, string> => (kind === "memory" ? {} : { DATABASE_URL: databaseUrl })

  it("bills orders, and refuses invalid ones", async () => {
    await using shop = await startShop(environment())
    const customerId = await newCustomer(shop.url)
    const order = async (id: string, body: unknown, customer = customerId) =>
      (await send("PUT", `${shop.url}/customers/${customer}/orders/${id}`, body)).status
    const [first, second] = ["1", "2"]

    expect(await order(first, { items: 3, cents: 1250 })).toBe(204)
    expect(await order(first, { items: 3, cents: 1250 }), "the same again").toBe(204)
    expect(await order(first, { items: 4, cents: 1250 }), "with other items").toBe(409)
    expect(await order(second, { items: -1, cents: 1 })).toBe(400)
    expect(await order(second, "no object")).toBe(400)
    // The event is refused after the usage was recorded.
    expect(await order(second, { items: 1, cents: -1 })).toBe(400)
    expect(await order(first, { items: 4, cents: 1 }, await newCustomer(shop.url)), "another's").toBe(204)
    const stranger = "cus_01kahd3kc8e0fsr8zknzqgf2h1"
    expect(await order(second, { items: 1, cents: 1 }, stranger)).toBe(404)
    expect(await send("GET", `${shop.url}/customers/${customerId}/usage`)).toEqual({
      status: 200,
      body: { items: "3" },
    })

    expect((await send("GET", `${shop.url}/billing/v1/customers`)).status).toBe(401)
    expect(shop.apiKey).toBeDefined()
    const billing = createClient({ url: `${shop.url}/billing`, apiKey: shop.apiKey! })
    const { data } = await billing.events.list({ customerId }).page()
    expect(data.map((event) => [event.type, event.data])).toEqual([
      ["invoice.paid", { invoice_id: first, customer_id: customerId, amount: 1250, currency: "EUR" }],
    ])
    const headers = { authorization: `Bearer ${shop.apiKey}` }
    const stream = await fetch(`${shop.url}/billing/v1/events/stream`, { headers })
    expect(await shop.stop(), "with an open stream").toBe(0)
    expect(await stream.text()).toBe("retry: 1000\n\n")
  })

  it(kind === "memory" ? "has no data after a restart" : "has the same data after a restart", async () => {
    const start = () => startShop(environment())
    const before = await start()
    const customerId = await newCustomer(before.url)
    expect(await before.stop()).toBe(0)

    await using after = await start()
    const { status } = await send("GET", `${after.url}/customers/${customerId}/usage`)
    expect({ status, hasNewKey: after.apiKey !== undefined }).toEqual(
      kind === "memory" ? { status: 404, hasNewKey: true } : { status: 200, hasNewKey: false },
    )
  })
})
