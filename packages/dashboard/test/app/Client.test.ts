/**
 * The client and a server on this machine, which loses answers.
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import * as Client from "../../app/api/Client.ts"

type Answer = (response: ServerResponse) => unknown

const keys: Array<string> = []
/** The answers that come next. */
let answers: Array<Answer> = []

const server = createServer((request, response) => {
  keys.push(String(request.headers["idempotency-key"]))
  request.resume().on("end", () => answers.shift()?.(response))
})

const answered =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = "{}"): Answer =>
  (response) =>
    response.writeHead(status, headers).end(body)
const done = answered(200)
/** The request was carried out, but the connection broke before its answer. */
const lost: Answer = (response) => response.destroy()

let client: Client.Client
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  client = Client.make({ apiUrl, key: undefined, onUnauthorized: () => undefined })
})
afterAll(() => server.close())
beforeEach(() => {
  keys.length = 0
  client.startAnew()
})

const refund = (amount: number) =>
  client
    .call("post", "/v1/refunds", { body: { payment_id: "pay_1", reason: "other", amount } })
    .catch(() => undefined)

/** Sends the same twice. The second is done. Gives the keys of both. */
const twice = async (first: Answer, between: () => unknown = () => undefined) => {
  answers = [first, done]
  await refund(5)
  await between()
  await refund(5)
  assert.strictEqual(keys.length, 2)
  return keys
}

describe("the idempotency key", () => {
  it.each([
    ["the connection broke", lost],
    ["a proxy gave up", answered(504, {}, "<html>")],
    ["a proxy answered in place of the API", answered(200, {}, "<html>")],
    ["the storage failed", answered(503, { "retry-after": "1" })],
    ["the first is still running", answered(409, { "retry-after": "1" })],
    ["the request came too slowly", answered(408)],
    ["there were too many requests", answered(429)],
  ])("stays the same when a request is sent again, because %s", async (_, first) => {
    const [before, after] = await twice(first)
    assert.match(before ?? "", /^[0-9a-f]{32}$/)
    assert.strictEqual(after, before)
  })

  it.each([
    ["was done", done],
    ["was refused", answered(422)],
    ["conflicts with what is stored", answered(409)],
  ])("is a new one after a request that %s", async (_, first) => {
    const [before, after] = await twice(first)
    assert.notStrictEqual(after, before)
  })

  it("is a new one for other input, and the first one again for the first input", async () => {
    answers = [lost, lost, done]
    await refund(5)
    await refund(6)
    await refund(5)
    assert.strictEqual(keys[2], keys[0])
    assert.notStrictEqual(keys[1], keys[0])
  })

  it("is a new one in a dialog that is opened again", async () => {
    const [before, after] = await twice(lost, () => client.startAnew())
    assert.notStrictEqual(after, before)
  })

  it("is a new one for each preview, which has to be up to date", async () => {
    answers = [lost, done]
    for (const _ of answers.slice()) {
      const { signal } = new AbortController()
      const body = { customer_id: "cus_1", plan: "pro" }
      await client.call("post", "/v1/subscriptions/preview", { body, signal }).catch(() => undefined)
    }
    assert.strictEqual(new Set(keys).size, 2)
  })
})
