import { once } from "node:events"
import { readFile } from "node:fs/promises"
import type { AddressInfo } from "node:net"
import { assert, it } from "@effect/vitest"
import { authorization, fetchHandler, httpServer } from "./readme.ts"

it("README.md shows an example that runs", async () => {
  const [readme, example] = await Promise.all(
    ["../README.md", "./readme.ts"].map((path) => readFile(new URL(path, import.meta.url), "utf8")),
  )
  assert.include(readme, "```ts\n" + example + "```")

  const path = "/billing/v1/usage/thresholds"
  const init = { headers: { authorization } }
  const fetched = await fetchHandler(new Request(`http://localhost${path}`, init))
  assert.strictEqual(fetched.status, 200)

  await once(httpServer.listen(0, "127.0.0.1"), "listening")
  const { port } = httpServer.address() as AddressInfo
  const served = await fetch(`http://127.0.0.1:${port}${path}`, init)
  assert.deepStrictEqual(await served.json(), await fetched.json())
  httpServer.closeAllConnections()
  httpServer.close()
})
