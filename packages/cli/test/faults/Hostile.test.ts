import { createServer, type Server, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
/**
 * Receivers that mean harm, or behave as if they did: rows 37 to 39 of the fault matrix, with a real worker and a
 * real Postgres. What the transport makes of each answer is tested next to it; here nothing of it may keep a
 * result from being written, or others from being sent to.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import type { DeliveryWithAttempts } from "../Tenant.ts"
import { holdsAll } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { World } from "./World.ts"

const world = new World()

/** What a receiver writes when the head of a request has come. Some go on until the connection ends. */
type Behaviour = (socket: Socket) => void

const every = (socket: Socket, millis: number, piece: string): void => {
  const timer = setInterval(() => socket.write(piece), millis)
  socket.once("close", () => clearInterval(timer))
}
const sends =
  (...pieces: ReadonlyArray<string | Uint8Array>): Behaviour =>
  (socket) => {
    for (const piece of pieces) socket.write(piece)
    socket.end()
  }
const answer = (status: string, headers: string, body: string | Uint8Array): Behaviour =>
  sends(`HTTP/1.1 ${status}\r\n${headers}connection: close\r\n\r\n`, body)

const MEGABYTE = 1_048_576

/** What each does, and what its attempt comes to. */
const BEHAVIOURS: Readonly<Record<string, readonly [Behaviour, Partial<DeliveryWithAttempts>]>> = {
  hangs: [() => {}, { last_error: "timeout" }],
  drips: [(socket) => every(socket, 50, "H"), { last_error: "bad_response" }],
  "drips a body": [
    (socket) => {
      socket.write("HTTP/1.1 500 No\r\ncontent-length: 5000\r\n\r\n")
      every(socket, 50, "x")
    },
    { last_error: "timeout" },
  ],
  "says 103 for ever": [
    (socket) => every(socket, 20, "HTTP/1.1 103 Early Hints\r\n\r\n"),
    { last_error: "timeout" },
  ],
  "sends 5 MB": [answer("500 No", "", Buffer.alloc(5 * MEGABYTE, "x")), { last_response_status: 500 }],
  "sends a gzip bomb": [
    answer("500 No", "content-encoding: gzip\r\n", gzipSync(Buffer.alloc(50 * MEGABYTE))),
    { last_response_status: 500 },
  ],
  "sends a header of 100 kB": [
    answer("500 No", `x-large: ${"a".repeat(100_000)}\r\n`, ""),
    { last_error: "bad_response" },
  ],
  "sends NUL": [answer("500 No", "x-a: b\r\n", "a\0b\u0000c"), { last_response_status: 500 }],
  "sends no UTF-8": [
    answer("500 No", "", Uint8Array.of(0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80)),
    { last_response_status: 500 },
  ],
  "sends no HTTP": [sends("SSH-2.0-OpenSSH_9.9\r\n"), { last_error: "bad_response" }],
  "sends a status of 99": [sends("HTTP/1.1 099 Odd\r\n\r\n"), { last_error: "bad_response" }],
  resets: [(socket) => socket.resetAndDestroy(), { last_error: "reset" }],
  "redirects to the cloud's metadata": [
    answer("302 Found", "location: http://169.254.169.254/latest/meta-data/\r\n", ""),
    { last_response_status: 302 },
  ],
}

/** A server for raw bytes: each path behaves as its name says. */
class HostileReceiver {
  readonly connections: Array<string> = []
  readonly #sockets = new Set<Socket>()
  readonly #server: Server = createServer((socket) => {
    this.#sockets.add(socket)
    socket.on("error", () => {}).once("close", () => this.#sockets.delete(socket))
    let head = ""
    socket.on("data", (chunk) => {
      if (head.includes("\r\n\r\n")) return
      head += chunk.toString("latin1")
      if (!head.includes("\r\n\r\n")) return
      const name = decodeURIComponent(head.split(" ")[1]!.slice(1))
      this.connections.push(name)
      BEHAVIOURS[name]?.[0](socket)
    })
  })

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve))
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }
}

const hostile = new HostileReceiver()

beforeAll(async () => {
  await Promise.all([world.start(), hostile.start()])
}, TIMEOUT)
afterEach(async () => {
  await world.endWorkers()
  await holdsAll(world)
}, TIMEOUT)
afterAll(async () => {
  hostile.stop()
  await world.stop()
}, TIMEOUT)

describe("a hostile receiver", () => {
  it(
    "gets an attempt that ends and is written, and keeps nobody else waiting",
    ofRows(37, 38, 39),
    async () => {
      const names = Object.keys(BEHAVIOURS)
      const endpoints = new Map<string, string>()
      for (const name of names) {
        const url = `http://127.0.0.1:${hostile.port}/${encodeURIComponent(name)}`
        endpoints.set(name, (await world.tenant.endpoint(url, ["invoice.paid"])).id)
      }
      const good = await world.target("/beside-hostile")
      await world.worker()
      const events: Array<string> = []
      for (let n = 0; n < 10; n++) events.push(await world.tenant.publish())
      await world.receiver.next(good.path, events.length)

      for (const name of names) {
        const [first] = (await world.tenant.deliveries({ endpoint_id: endpoints.get(name)! })).toReversed()
        const found = await world.tenant.deliveryThatIs(first!.id, ({ attempts }) => attempts.length > 0)
        const [attempt] = found.attempts
        const { last_error: error = null, last_response_status: status = null } = BEHAVIOURS[name]![1]
        assert.deepStrictEqual([name, attempt!.error, attempt!.response_status], [name, error, status])
        assert.notStrictEqual(found.status, "Delivered")
      }
      for (const id of endpoints.values()) await world.tenant.request("DELETE", `/webhook_endpoints/${id}`)
      await world.tenant.drain()
      await world.retire(good)
    },
  )

  it("is reached in live mode by no trick with its address", ofRows(39), async () => {
    const seen = hostile.connections.length
    const { port } = hostile
    const tricks = [
      `https://127.0.0.1:${port}/`,
      "https://0x7f.1/",
      "https://2130706433/",
      "https://１２７.0.0.1/",
      "https://[::1]/",
      "https://[::ffff:127.0.0.1]/",
      "https://[64:ff9b::7f00:1]/",
      "https://169.254.169.254/latest/meta-data/",
      "https://10.0.0.1/",
      "https://localhost/",
      `http://example.com:${port}/`,
      "https://user@example.com/",
      "https://example.com/#fragment",
    ]
    for (const url of tricks) {
      const answered = await world.callLive("POST", "/webhook_endpoints", { url, event_types: ["*"] })
      assert.strictEqual(answered.status, 400, url)
      assert.match(answered.text, /"message":"url /)
    }
    assert.strictEqual(hostile.connections.length, seen)
  })

  it("is reached by no row that somebody changed behind our back", ofRows(39), async () => {
    const made = await world.callLive("POST", "/webhook_endpoints", {
      url: "https://receiver.example.com/hooks",
      event_types: ["payment.failed"],
    })
    assert.strictEqual(made.status, 201, made.text)
    const seen = hostile.connections.length
    for (const url of [
      `http://127.0.0.1:${hostile.port}/resets`,
      `https://127.0.0.1:${hostile.port}/resets`,
    ]) {
      await world.postgres.query(
        `update billwright.webhook_endpoints set url = '${url}' where url like 'http%' and mode = 'live'`,
      )
      const data = { payment_id: "pay_1", customer_id: "c_1", amount: 1, currency: "EUR" }
      const published = await world.callLive("POST", "/events", { type: "payment.failed", data })
      assert.strictEqual(published.status, 201, published.text)
      const worker = await world.worker()
      const blocked = await world.liveAttempt(String(published.body["id"]))
      assert.strictEqual(blocked.error, "blocked_address")
      await worker.stop()
      world.damages(url)
    }
    assert.strictEqual(hostile.connections.length, seen)
    await world.callLive("DELETE", `/webhook_endpoints/${String(made.body["id"])}`)
    await world.worker()
    await world.drain()
  })
})
