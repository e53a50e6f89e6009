import { once } from "node:events"
/**
 * How a server's webhooks leave the machine: through a proxy, with a client certificate, and to endpoints that agreed.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { type AddressInfo, connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { selfSigned } from "../../node/test/Certificate.ts"
import * as Cli from "./Cli.ts"
import { TIMEOUT } from "./Installation.ts"
import { Receiver } from "./Receiver.ts"
import { Tenant } from "./Tenant.ts"

const { cert: certificate, key } = selfSigned(["127.0.0.1"], -1, 365)

const receiver = new Receiver()
beforeAll(() => receiver.start())
afterAll(() => receiver.stop())

/** An HTTP proxy of Node, which makes tunnels, and what it was asked. */
const startProxy = async () => {
  const asked: Array<{ readonly authority: string | undefined; readonly credentials: string | undefined }> =
    []
  const server = createServer()
  server.on("connect", ({ headers, url }, socket) => {
    asked.push({ authority: url, credentials: headers["proxy-authorization"] })
    const { hostname, port } = new URL(`http://${url}`)
    const onward = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      socket.pipe(onward).pipe(socket)
    })
    onward.on("error", () => socket.destroy())
    socket.on("error", () => onward.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { asked, server, port: (server.address() as AddressInfo).port }
}

describe("serve with a proxy for webhooks", () => {
  it(
    "sends through it, and an outage of it is no failure of the endpoint",
    { timeout: TIMEOUT },
    async () => {
      const { asked, port, server } = await startProxy()
      const password = ["word", "of", "the", "proxy"].join("-")
      const serving = await Cli.serve(["--store", "memory"], {
        env: { BILLWRIGHT_WEBHOOK_PROXY: `http://ada:${password}@127.0.0.1:${port}` },
      })
      const tenant = new Tenant(serving.url, serving.keys.test)
      const { id } = await tenant.endpoint(receiver.url("/proxied"), ["invoice.paid"])
      await tenant.publish()
      await receiver.next("/proxied", 1)
      const basic = Buffer.from(`ada:${password}`).toString("base64")
      const authority = new URL(receiver.url("/")).host
      assert.deepStrictEqual(asked, [{ authority, credentials: `Basic ${basic}` }])

      receiver.drop()
      server.close()
      server.closeAllConnections()
      const eventId = await tenant.publish()
      const failed = await tenant.deliveryThat(eventId, ({ attempt_count }) => attempt_count > 0)
      assert.strictEqual(failed.last_error, "proxy_error")
      const endpoint = await tenant.request("GET", `/webhook_endpoints/${id}`)
      assert.deepInclude(endpoint, { status: "enabled", failing_since: null })

      assert.strictEqual(await serving.stop(), 0)
      const printed = serving.stdout() + serving.stderr()
      assert.include(printed, "webhooks can't be sent, because the proxy fails")
      for (const secret of [password, basic]) assert.notInclude(printed, secret)
    },
  )

  it("takes the proxy of a flag, too", { timeout: TIMEOUT }, async () => {
    const { asked, port, server } = await startProxy()
    const serving = await Cli.serve(["--store", "memory", "--webhook-proxy", `http://127.0.0.1:${port}`])
    const tenant = new Tenant(serving.url, serving.keys.test)
    await tenant.endpoint(receiver.url("/flag"), ["invoice.paid"])
    await tenant.publish()
    await receiver.next("/flag", 1)
    assert.deepStrictEqual(asked, [{ authority: new URL(receiver.url("/")).host, credentials: undefined }])
    assert.strictEqual(await serving.stop(), 0)
    server.close()
  })
})

describe("serve with a client certificate", () => {
  const directory = mkdtempSync(join(tmpdir(), "billwright-outbound-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  const file = (name: string, text: string, mode = 0o600) => {
    writeFileSync(join(directory, name), text, { mode })
    return join(directory, name)
  }
  const files = { certificate: file("client.pem", certificate, 0o644), key: file("client.key", key) }
  const memory = ["serve", "--port", "0", "--store", "memory"]

  it("presents it to receivers that demand one", { timeout: TIMEOUT }, async () => {
    const shown: Array<string | undefined> = []
    const tls = { cert: certificate, key, ca: certificate, requestCert: true, rejectUnauthorized: true }
    const hook = createTlsServer(tls, (request, response) => {
      shown.push((request.socket as TLSSocket).getPeerX509Certificate()?.toString())
      response.writeHead(204).end()
    })
    hook.listen(0, "127.0.0.1")
    await once(hook, "listening")
    const serving = await Cli.serve(
      ["--store", "memory", "--webhook-client-certificate", files.certificate],
      {
        env: { BILLWRIGHT_WEBHOOK_CLIENT_KEY: files.key, NODE_EXTRA_CA_CERTS: files.certificate },
      },
    )
    const tenant = new Tenant(serving.url, serving.keys.test)
    await tenant.endpoint(`https://127.0.0.1:${(hook.address() as AddressInfo).port}/`, ["invoice.paid"])
    const eventId = await tenant.publish()
    await tenant.deliveryThat(eventId, ({ status }) => status === "Delivered")
    assert.deepStrictEqual(shown, [certificate])
    assert.strictEqual(await serving.stop(), 0)
    hook.close()
  })

  it.each([
    [["--webhook-client-certificate", files.certificate], /need each other/],
    [["--webhook-client-key", files.key], /need each other/],
    [
      ["--webhook-client-certificate", join(directory, "none.pem"), "--webhook-client-key", files.key],
      /^billwright: --webhook-client-certificate .*none\.pem: ENOENT/,
    ],
    [
      [
        "--webhook-client-certificate",
        file("long.pem", "x".repeat(65_537)),
        "--webhook-client-key",
        files.key,
      ],
      /^billwright: --webhook-client-certificate .*long\.pem: it is larger than 65536 bytes/,
    ],
    [
      ["--webhook-client-certificate", files.key, "--webhook-client-key", files.key],
      /^billwright: --webhook-client-certificate must be a certificate in PEM/,
    ],
    [
      [
        "--webhook-client-certificate",
        files.certificate,
        "--webhook-client-key",
        file("open.key", key, 0o644),
      ],
      /^billwright: the file .*open\.key may be read by others/,
    ],
    [
      ["--webhook-client-certificate", files.certificate, "--webhook-client-key", file("wrong.key", "wrong")],
      /^billwright: --webhook-client-key must be a private key in PEM/,
    ],
  ])("refuses %j", { timeout: TIMEOUT }, async (args, sentence) => {
    const { code, stderr, stdout } = await Cli.runHere([...memory, ...args])
    assert.strictEqual(code, 1)
    assert.match(stderr, sentence)
    assert.notInclude(stdout, "listening")
  })
})

describe("serve --verify-endpoints", () => {
  it("asks endpoints, and each webhook has the name that they allowed", { timeout: TIMEOUT }, async () => {
    const origin = "billing.example.com"
    const serving = await Cli.serve(["--store", "memory", "--verify-endpoints", origin])
    const tenant = new Tenant(serving.url, serving.keys.test)
    const endpoint = { url: receiver.url("/verified"), event_types: ["invoice.paid"] }
    const refused = await tenant.call("POST", "/webhook_endpoints", endpoint)
    assert.strictEqual(refused.status, 400)
    assert.include(refused.text, `WebHook-Allowed-Origin: ${origin}`)
    receiver.script("/verified", ({ answer }) => answer(204, { "webhook-allowed-origin": origin }))
    await tenant.request("POST", "/webhook_endpoints", endpoint)
    await tenant.publish()
    const { headers } = await receiver.next("/verified", 3)
    assert.strictEqual(headers["webhook-request-origin"], origin)
    assert.strictEqual(await serving.stop(), 0)
  })
})
