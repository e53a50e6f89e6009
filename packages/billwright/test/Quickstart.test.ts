/** The README's examples are these files, and they run. */
import { readFileSync } from "node:fs"
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
  for (const name of ["memory", "express", "events", "client"]) {
    it(`shows the example that is run here: ${name}`, () => {
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

  it("asks the API by the client", async () => {
    await using billing = await createBilling({ store: memory() })
    const { id } = await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
    await billing.usage.record({ customerId: id, productId: "api", quantity: 5, unit: "call" })
    const { secret } = await billing.keys.create({ name: "client" })
    vi.stubEnv("BILLING_KEY", secret)
    const fetching = vi
      .spyOn(globalThis, "fetch")
      .mockImplementation((url, init) => billing.fetch(new Request(url, init), { basePath: "/billing" }))
    assert.deepStrictEqual(await logged(() => import("./readme/start/client.ts")), [5n])
    fetching.mockRestore()
    vi.unstubAllEnvs()
  })
})
