/** The examples of the README are these files. This test runs them. */
import { once } from "node:events"
import { readFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { createBilling } from "billwright"
import { memory } from "billwright/memory"
import { assert, describe, it, vi } from "vitest"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

const logged = async (run: () => Promise<unknown>): Promise<ReadonlyArray<unknown>> => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {})
  try {
    await run()
    return log.mock.calls.flat()
  } finally {
    log.mockRestore()
  }
}

describe("README.md", () => {
  for (const name of ["memory", "express", "events", "dashboard", "client"]) {
    it(`shows the example ${name} unchanged`, () => {
      const source = readFileSync(new URL(`readme/start/${name}.ts`, import.meta.url), "utf8")
      assert.include(readme, `\`\`\`ts\n${source}\`\`\``)
    })
  }

  it("starts in memory", async () => {
    assert.deepStrictEqual(await logged(() => import("./readme/start/memory.ts")), ["5 call"])
  })

  it("publishes events", async () => {
    assert.deepStrictEqual(await logged(() => import("./readme/start/events.ts")), [true, 1])
  })

  it("mounts the dashboard behind a login", async () => {
    const { app } = await import("./readme/start/dashboard.ts")
    const server = app.listen(0, "127.0.0.1")
    await once(server, "listening")
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/billing/v1/customers`
    const headers = { "billwright-dashboard": "1" }
    const operator = await fetch(url, { headers: { ...headers, cookie: "session=operator" } })
    assert.deepStrictEqual([operator.status, (await fetch(url, { headers })).status], [200, 401])
    server.close()
    server.closeAllConnections()
  })

  it("calls the API by the client", async () => {
    await using billing = await createBilling({ store: memory() })
    const { id } = await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
    await billing.usage.record({ customerId: id, productId: "api", quantity: 5, unit: "call" })
    const { secret } = await billing.keys.create({ name: "client" })
    vi.stubEnv("BILLWRIGHT_API_KEY", secret)
    const fetching = vi
      .spyOn(globalThis, "fetch")
      .mockImplementation((url, init) => billing.fetch(new Request(url, init), { basePath: "/billing" }))
    assert.deepStrictEqual(await logged(() => import("./readme/start/client.ts")), [5n])
    fetching.mockRestore()
    vi.unstubAllEnvs()
  })
})
