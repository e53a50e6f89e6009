import { connect, type Socket } from "node:net"
/**
 * Clients that keep connections open by sending almost nothing. They don't slow down others, and the server closes their
 * connections.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "../Cli.ts"

const TIMEOUT = 120_000
const WAITING = { timeout: TIMEOUT }
const CLIENTS = 200
/** Fast enough that no connection is idle. */
const DRIP_MILLIS = 500

let server: Cli.Serving
const all = new Set<Drip>()

/** Sends the beginning of a request, then one byte at a time, until the server closes the connection. */
class Drip {
  text = ""
  readonly closed: Promise<void>
  readonly #socket: Socket

  constructor(port: number, beginning: string) {
    // Written at once, because a connection can take longer than the first pause. The socket keeps it until then.
    this.#socket = connect(port, "127.0.0.1")
    this.#socket.write(beginning)
    const timer = setInterval(() => this.#socket.write("x"), DRIP_MILLIS)
    this.#socket.setEncoding("utf8").on("error", () => {})
    this.#socket.on("data", (chunk: string) => (this.text += chunk))
    this.closed = new Promise((resolve) => {
      this.#socket.once("close", () => {
        clearInterval(timer)
        resolve()
      })
    })
  }

  end(): void {
    this.#socket.destroy()
  }
}

beforeAll(async () => {
  server = await Cli.serve(["--store", "memory"])
}, TIMEOUT)
afterAll(async () => {
  for (const drip of all) drip.end()
  await server.stop()
}, TIMEOUT)

const withstands = async (beginning: string): Promise<ReadonlyArray<Drip>> => {
  const port = Number(new URL(server.url).port)
  const drips = Array.from({ length: CLIENTS }, () => new Drip(port, beginning))
  for (const drip of drips) all.add(drip)
  const answer = await Cli.call(server.url, server.keys.test, "GET", "/v1/customers")
  assert.strictEqual(answer.status, 200)
  // The server closes them. The time-out of the test is the deadline.
  await Promise.all(drips.map(({ closed }) => closed))
  return drips
}

describe.concurrent("a slow client", () => {
  it("that never ends its headers is disconnected", WAITING, async () => {
    for (const { text } of await withstands("GET /v1/customers HTTP/1.1\r\nHost: x\r\nX-Slow: ")) {
      assert.match(text, /^HTTP\/1\.1 408 /)
      assert.include(text, "the request took too long to arrive")
    }
  })

  it("that never ends its body gets an answer and is disconnected", WAITING, async () => {
    const head = [
      "POST /v1/customers HTTP/1.1",
      "Host: x",
      `Authorization: Bearer ${server.keys.test}`,
      "Content-Length: 100000",
    ]
    for (const { text } of await withstands(`${head.join("\r\n")}\r\n\r\n{`)) {
      assert.match(text, /^HTTP\/1\.1 408 /)
      assert.lengthOf(text.split("HTTP/1.1 "), 2)
      assert.include(text, "the body took longer than 30 s")
    }
    const answer = await Cli.call(server.url, server.keys.test, "GET", "/v1/customers")
    assert.deepStrictEqual(answer.body["data"], [])
  })

  it("without a key gets 401 at once and is disconnected", WAITING, async () => {
    for (const { text } of await withstands(
      "POST /v1/customers HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n",
    )) {
      assert.include(text, "HTTP/1.1 401 ")
    }
  })
})
