/** The receivers of the README are these files. This test runs them. */
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { webhookErrorCodes, WebhookVerificationError } from "billwright/verify"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { app as expressApp } from "./readme/express.ts"
import { app as fastifyApp } from "./readme/fastify.ts"
import { app as honoApp } from "./readme/hono.ts"
import { POST } from "./readme/next.ts"
import { server as nodeServer } from "./readme/node.ts"
import { headersOf, secretOf, signV1 } from "./Signer.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

type Receiver = (request: Request) => Promise<Response>

/** Serves one request by a handler of node:http. */
const overHttp =
  (listener: RequestListener): Receiver =>
  async (request) => {
    const server = createServer(listener).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const { headers, method } = request
    const body = await request.arrayBuffer()
    const response = await fetch(`http://127.0.0.1:${port}/webhooks`, { method, headers, body })
    server.close()
    server.closeAllConnections()
    return response
  }

const receivers: Readonly<Record<string, Receiver>> = {
  node: overHttp((request, response) => nodeServer.emit("request", request, response)),
  express: overHttp(expressApp),
  fastify: async (request) => {
    const { statusCode } = await fastifyApp.inject({
      method: "POST",
      url: "/webhooks",
      headers: Object.fromEntries(request.headers),
      payload: Buffer.from(await request.arrayBuffer()),
    })
    return new Response(null, { status: statusCode })
  },
  hono: async (request) => honoApp.fetch(request),
  next: POST,
}

const key = randomBytes(32)
const body = '{ "id": "evt_1", "type": "invoice.paid", "data": {} }'

const requestOf = (sent: string, contentType: string): Request => {
  const message = { id: "evt_1", timestamp: String(Math.floor(Date.now() / 1000)), body }
  return new Request("http://localhost/webhooks", {
    method: "POST",
    headers: { ...headersOf(message, signV1(message, key)), "content-type": contentType },
    body: sent,
  })
}

describe("README.md", () => {
  beforeAll(() => {
    vi.stubEnv("WEBHOOK_SECRET", secretOf(key))
    vi.stubEnv("NODE_ENV", "test") // Express prints errors otherwise.
  })
  afterAll(() => vi.unstubAllEnvs())

  for (const [name, receive] of Object.entries(receivers))
    it(`shows a receiver that works: ${name}`, async () => {
      assert.include(
        readme,
        `\`\`\`ts\n${readFileSync(new URL(`readme/${name}.ts`, import.meta.url), "utf8")}\`\`\``,
      )
      const log = vi.spyOn(console, "log").mockImplementation(() => {})
      assert.strictEqual((await receive(requestOf(body, "application/json"))).status, 204)
      assert.strictEqual((await receive(requestOf(body, "application/json; charset=utf-8"))).status, 204)
      assert.strictEqual((await receive(requestOf(`${body} `, "application/json"))).status, 400)
      assert.deepStrictEqual(log.mock.calls, [["invoice.paid"], ["invoice.paid"]])
      log.mockRestore()
    })

  it("lists every error with its status", () => {
    const listed = [...readme.matchAll(/^\| `(\w+)` +\| (\d+) /gm)].map(
      ([, code, status]) => `${code} ${status}`,
    )
    const all = webhookErrorCodes.map((code) => `${code} ${new WebhookVerificationError(code, "").status}`)
    assert.sameMembers(listed, all)
    assert.lengthOf(
      all.filter((each) => each.endsWith("400")),
      9,
    )
  })
})
