/** Endpoints that are asked whether they want webhooks, over HTTP. */
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { type Billing, type BillingOptions, createBilling, InvalidInputError } from "billwright"
import { memory } from "billwright/memory"
import { createTestBilling } from "billwright/testing"
import { afterAll, assert, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

const ORIGIN = "billing.example.com"
const servers: Array<ReturnType<typeof createServer>> = []
afterAll(() => servers.forEach((server) => server.close()))

/** A receiver, and the requests that it got. */
const receiver = async (handle: RequestListener) => {
  const requests: Array<string> = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers["webhook-request-origin"]}`)
    handle(request, response)
  })
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { requests, url, end: () => server.closeAllConnections() }
}

const allowing =
  (origin: string, status = 204): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { "WebHook-Allowed-Origin": origin, location: "/elsewhere" }).end()

const start = (options: Partial<Omit<BillingOptions, "events">> = {}) =>
  createBilling({
    store: memory(),
    mode: "test",
    log: false,
    dispatcher: "manual",
    network: { allowLoopback: true },
    verifyEndpoints: { origin: ORIGIN },
    ...options,
  })

const create = (billing: Billing, url: string) => billing.endpoints.create({ url, eventTypes: ["*"] })

const refusal = async (promise: Promise<unknown>): Promise<string> => {
  const error = await rejection(promise)
  assert.instanceOf(error, InvalidInputError)
  assert.strictEqual(error.field, "url")
  return error.problem
}

describe("an endpoint", () => {
  it("that allows the sender is created, gets webhooks of that name, and may move when the new URL allows it, too", async () => {
    const hook = await receiver(allowing(ORIGIN))
    await using billing = await start()
    const { id } = await create(billing, `${hook.url}/a?b=c`)
    await billing.endpoints.update(id, { url: `${hook.url}/moved` })
    await billing.endpoints.update(id, { description: "the same URL" })
    await billing.endpoints.test(id, { type: "invoice.paid" })
    assert.strictEqual(await billing.deliverDue(), 1)
    assert.deepStrictEqual(hook.requests, [
      `OPTIONS /a?b=c ${ORIGIN}`,
      `OPTIONS /moved ${ORIGIN}`,
      `POST /moved ${ORIGIN}`,
    ])
  })

  it.each([
    ["answers 404", allowing("*", 404), /, and it answered 404$/],
    [
      "doesn't know the handshake",
      ((_request, response) => response.writeHead(405).end()) satisfies RequestListener,
      /, and it answered 405$/,
    ],
    ["allows another sender", allowing("other.example.com"), /, and it allowed another sender$/],
    ["redirects", allowing("*", 307), /, and it answered 307$/],
    [
      "answers without the header",
      ((_request, response) => response.end("x".repeat(1_000_000))) satisfies RequestListener,
      /, and it answered 200 without this header$/,
    ],
    [
      "ends the connection",
      ((request) => request.socket.destroy()) satisfies RequestListener,
      /, and it gave no answer \(reset\)$/,
    ],
  ])("that %s is refused after one request", async (_what, handle, problem) => {
    const hook = await receiver(handle)
    await using billing = await start()
    const said = await refusal(create(billing, hook.url))
    assert.match(
      said,
      /^must agree to get webhooks: .* the header WebHook-Allowed-Origin: billing\.example\.com /,
    )
    assert.match(said, problem)
    assert.deepStrictEqual(hook.requests, [`OPTIONS / ${ORIGIN}`])
    assert.lengthOf((await billing.endpoints.list().page()).data, 0)
    hook.end()
  })

  it("that hangs is refused, and the connection ends", { timeout: 20_000 }, async () => {
    const closed = Promise.withResolvers<void>()
    const hook = await receiver((request) => request.socket.once("close", () => closed.resolve()))
    await using billing = await start()
    assert.match(await refusal(create(billing, hook.url)), /, and it gave no answer within 5 s$/)
    await closed.promise
  })

  it("of a private address is refused without a request", async () => {
    const hook = await receiver(allowing("*"))
    await using billing = await start({ network: {} })
    assert.match(await refusal(create(billing, hook.url)), /^must not point to 127\.0\.0\.1/)
    assert.match(await refusal(create(billing, "http://localhost:1/")), /^must not point to localhost/)
    assert.deepStrictEqual(hook.requests, [])
  })

  it("keeps its URL when the new one refuses", async () => {
    const hook = await receiver((request, response) =>
      allowing(request.url === "/first" ? "*" : "other.example.com")(request, response),
    )
    await using billing = await start()
    const { id, url } = await create(billing, `${hook.url}/first`)
    await refusal(billing.endpoints.update(id, { url: `${hook.url}/second` }))
    assert.strictEqual((await billing.endpoints.get(id)).url, url)
  })

  it("is not asked in a transaction, and is refused there", async () => {
    const hook = await receiver(allowing("*"))
    await using billing = await start()
    const creating = billing.transaction((tx) => tx.endpoints.create({ url: hook.url, eventTypes: ["*"] }))
    assert.match(await refusal(creating), /^can't be verified in a transaction/)
    assert.deepStrictEqual(hook.requests, [])
  })

  it("is not asked by default", async () => {
    const hook = await receiver(allowing("other.example.com"))
    await using billing = await createBilling({
      store: memory(),
      mode: "test",
      log: false,
      dispatcher: "manual",
      network: { allowLoopback: true },
    })
    const { id } = await create(billing, hook.url)
    await billing.endpoints.test(id, { type: "invoice.paid" })
    await billing.deliverDue()
    assert.deepStrictEqual(hook.requests, ["POST / undefined"])
  })
})

describe("a process that sends no webhooks", () => {
  it("asks by the proxy of verifyEndpoints, or else of the dispatcher", async () => {
    const asked: Array<string | undefined> = []
    const proxy = createServer()
    servers.push(proxy)
    proxy.on("connect", ({ url }, socket) => {
      asked.push(url)
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
    })
    proxy.listen(0, "127.0.0.1")
    await once(proxy, "listening")
    const own = { proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
    for (const options of [
      { dispatcher: false, verifyEndpoints: { origin: ORIGIN, ...own } },
      { dispatcher: own, verifyEndpoints: { origin: ORIGIN } },
    ] as const) {
      await using billing = await start(options)
      assert.match(
        await refusal(create(billing, "http://127.0.0.1:9/")),
        /it gave no answer \(proxy_error\)$/,
      )
    }
    assert.deepStrictEqual(asked, ["127.0.0.1:9", "127.0.0.1:9"])
  })
})

describe("in a test", () => {
  it("receivers agree by themselves", async () => {
    await using billing = await createTestBilling({ verifyEndpoints: { origin: ORIGIN } })
    const hook = billing.testing.receiver("https://hooks.example.com/")
    await create(billing, hook.url)
    await billing.events.publish({
      type: "invoice.paid",
      data: { invoice_id: "in_1", customer_id: "ada", amount: 4_200, currency: "EUR" },
    })
    await billing.deliverDue()
    assert.lengthOf(hook.requests, 1)
    assert.strictEqual(hook.requests[0]!.headers["webhook-request-origin"], ORIGIN)
  })
})
