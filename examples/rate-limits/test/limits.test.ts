import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { createTestBilling } from "billwright/testing"
import { afterEach, describe, expect, it } from "vitest"
import { createApp } from "../src/App.ts"
import { setUp } from "../src/Plans.ts"

const ends: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const start = async () => {
  const billing = await createTestBilling({ now: "2026-01-01T00:00:00Z" })
  await setUp(billing)
  const { id: customerId } = await billing.testing.customer()
  const app = createApp({
    billing,
    customerOf: (key) => (key === "my-key" ? customerId : undefined),
    now: () => billing.testing.now.getTime(),
  })
  const server = app.listen(0, "127.0.0.1")
  await once(server, "listening")
  ends.push(
    () => billing.close(),
    async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  )
  const { port } = server.address() as AddressInfo
  const get = (headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}/time`, { headers: { "x-api-key": "my-key", ...headers } })
  const statuses = async (count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => get()))
    return answers.map(({ status }) => status).toSorted()
  }
  return { billing, customerId, get, statuses }
}

describe("an API with limits by plan", () => {
  it("lets through what the plan includes, and says what is left and when it begins anew", async () => {
    const { billing, customerId, get, statuses } = await start()
    await billing.subscriptions.create({ customerId, plan: "free" })
    const first = await get()
    expect(first.status).toBe(200)
    expect(first.headers.get("ratelimit-limit")).toBe("5")
    expect(first.headers.get("ratelimit-remaining")).toBe("4")
    expect(await statuses(10)).toEqual([200, 200, 200, 200, 429, 429, 429, 429, 429, 429])

    await billing.testing.advance({ hours: 23 })
    const refused = await get()
    expect(refused.status).toBe(429)
    expect(refused.headers.get("retry-after")).toBe("3600")
    expect(await refused.json()).toEqual({ error: "you have used all 5 requests of your plan" })

    await billing.testing.advance({ hours: 1 })
    expect((await get()).status).toBe(200)
  })

  it("counts each request, whatever a caller says", async () => {
    const { billing, customerId, get } = await start()
    await billing.subscriptions.create({ customerId, plan: "free" })
    const statuses: Array<number> = []
    for (let n = 0; n < 6; n++) statuses.push((await get({ "idempotency-key": "always the same" })).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  })

  it("changes the limit with the plan, and bills what is beyond a soft one", async () => {
    const { billing, customerId, get, statuses } = await start()
    const { id } = await billing.subscriptions.create({ customerId, plan: "free" })
    await statuses(6)
    expect((await get()).status).toBe(429)
    await billing.subscriptions.change(id, { plan: "pro", at: "now" })
    expect((await get()).status).toBe(200)
    await billing.usage.record({ customerId, productId: "api", unit: "request", quantity: 996 })
    const beyond = await get()
    expect(beyond.status).toBe(200)
    expect(beyond.headers.get("ratelimit-remaining")).toBe("0")
    await billing.testing.advance({ days: 2 })
    const amounts: Array<bigint> = []
    for await (const { lines } of billing.invoices.list({ customerId })) {
      for (const line of lines) if (line.charge === "more") amounts.push(line.amount)
    }
    // 1,003 requests, of which 1,000 are free.
    expect(amounts.filter((amount) => amount !== 0n)).toEqual([3n])
  })

  it("refuses unknown keys, and customers without a plan", async () => {
    const { get } = await start()
    expect((await get({ "x-api-key": "other" })).status).toBe(401)
    expect((await get()).status).toBe(403)
  })
})
