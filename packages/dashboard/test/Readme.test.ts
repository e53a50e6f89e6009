/** The hosts in the README are these files. This test runs them. */
import { once } from "node:events"
import { readdir, readFile } from "node:fs/promises"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"
import { dashboard } from "./readme/authorize.ts"
import { app as expressApp } from "./readme/express.ts"
import { app as fastifyApp } from "./readme/fastify.ts"
import { app as honoApp } from "./readme/hono.ts"
import { server as nodeServer } from "./readme/node.ts"

const statusOverHttp =
  (listener: RequestListener) =>
  async (path: string): Promise<number> => {
    const server = createServer(listener).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { status } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
    server.close()
    server.closeAllConnections()
    return status
  }

const hosts: Readonly<Record<string, (path: string) => Promise<number>>> = {
  express: statusOverHttp(expressApp),
  hono: async (path) => (await honoApp.request(path)).status,
  fastify: async (path) => (await fastifyApp.inject({ method: "GET", url: path })).statusCode,
  node: statusOverHttp((request, response) => nodeServer.emit("request", request, response)),
}

/** 503 is also an answer of the dashboard: the app may not be built yet. */
const isDashboard = (status: number): boolean => status === 200 || status === 503

describe("README.md", () => {
  it("shows these files", async () => {
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
    const directory = new URL("readme/", import.meta.url)
    for (const name of await readdir(directory))
      assert.include(readme, "```ts\n" + (await readFile(new URL(name, directory), "utf8")) + "```", name)
  })

  for (const [name, statusOf] of Object.entries(hosts)) {
    it(`mounts it in ${name}`, async () => {
      assert.isTrue(isDashboard(await statusOf("/billing/dashboard/events")))
      assert.strictEqual(await statusOf("/elsewhere"), 404)
    })
  }

  it("lets the host decide who sees it", async () => {
    const url = "http://localhost/billing/dashboard/"
    const visit = async (headers: Record<string, string>) =>
      (await dashboard(new Request(url, { headers })))?.status ?? 0
    assert.isTrue(isDashboard(await visit({ cookie: "session=operator" })))
    const status = await visit({})
    assert.isTrue(status === 303 || status === 503, String(status))
  })
})
