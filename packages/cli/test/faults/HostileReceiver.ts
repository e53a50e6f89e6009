import { once } from "node:events"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { gzipSync } from "node:zlib"
/**
 * A hostile server that sends raw bytes. The name of each path says how it behaves.
 */
import type { Delivery } from "../Tenant.ts"

/** What the server does on a connection when the headers of a request have arrived. Some behaviours never end. */
type Behaviour = (socket: Socket) => void

/** The state of a delivery after one attempt. */
type Outcome = Pick<Delivery, "status" | "last_error" | "last_response_status">

const every = (socket: Socket, millis: number, pieces: Iterable<string>): void => {
  const left = pieces[Symbol.iterator]()
  const timer = setInterval(() => {
    const { done, value } = left.next()
    if (done !== true) socket.write(value)
  }, millis)
  socket.once("close", () => clearInterval(timer))
}
const endless = function* (piece: string): Generator<string> {
  for (;;) yield piece
}
const sends =
  (...pieces: ReadonlyArray<string | Uint8Array>): Behaviour =>
  (socket) => {
    for (const piece of pieces) socket.write(piece)
    socket.end()
  }
const answer = (status: string, headers: string, body: string | Uint8Array): Behaviour =>
  sends(`HTTP/1.1 ${status}\r\n${headers}connection: close\r\n\r\n`, body)

const failed = (error: string): Outcome => ({
  status: "Pending",
  last_error: error,
  last_response_status: null,
})
const answered = (status: number): Outcome => ({
  status: status === 200 ? "Delivered" : "Pending",
  last_error: null,
  last_response_status: status,
})

const MEGABYTE = 1_048_576
const big = Buffer.alloc(5 * MEGABYTE, "x")
const bomb = gzipSync(Buffer.alloc(50 * MEGABYTE))
const GZIP = "content-encoding: gzip\r\n"
const NO_TEXT = Uint8Array.of(0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80)
const EARLY = "answers before it was asked"

/** Behaviours that last until the deadline of the attempt. */
export const SLOW: Readonly<Record<string, Behaviour>> = {
  hangs: () => {},
  "drips a status line": (socket) => every(socket, 1_000, "HTTP/1.1 200 OK\r\n"),
  "drips headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n")
    every(socket, 50, endless("a: b\r\n"))
  },
  "drips a body": (socket) => {
    socket.write("HTTP/1.1 500 No\r\ncontent-length: 5000\r\n\r\n")
    every(socket, 50, endless("x"))
  },
  "says 103 for ever": (socket) => every(socket, 20, endless("HTTP/1.1 103 Early Hints\r\n\r\n")),
}

/** Behaviours that answer at once, with the result of the attempt. */
const ODD: Readonly<Record<string, readonly [Behaviour, Outcome]>> = {
  "sends 5 MB": [answer("500 No", "", big), answered(500)],
  "takes it and sends 5 MB": [answer("200 OK", "", big), answered(200)],
  "sends a gzip bomb": [answer("500 No", GZIP, bomb), answered(500)],
  "takes it and sends a gzip bomb": [answer("200 OK", GZIP, bomb), answered(200)],
  "sends a header of 100 kB": [
    answer("500 No", `x-large: ${"a".repeat(100_000)}\r\n`, ""),
    failed("bad_response"),
  ],
  "sends NUL": [answer("500 No", "x-a: b\r\n", "a\0b\u0000c"), answered(500)],
  "takes it and sends NUL": [answer("200 OK", "", "a\0b"), answered(200)],
  "sends no UTF-8": [answer("500 No", "", NO_TEXT), answered(500)],
  "takes it and sends no UTF-8": [answer("200 OK", "", NO_TEXT), answered(200)],
  "sends no HTTP": [sends("SSH-2.0-OpenSSH_9.9\r\n"), failed("bad_response")],
  "sends a status of 99": [sends("HTTP/1.1 099 Odd\r\n\r\n"), failed("bad_response")],
  [EARLY]: [() => {}, answered(200)],
  resets: [(socket) => socket.resetAndDestroy(), failed("reset")],
}

/** The result of an attempt for each behaviour. */
export const OUTCOMES: Readonly<Record<string, Outcome>> = {
  ...Object.fromEntries(Object.keys(SLOW).map((name) => [name, failed("timeout")])),
  ...Object.fromEntries(Object.entries(ODD).map(([name, [, outcome]]) => [name, outcome])),
}

const behaviourOf = (name: string): Behaviour | undefined => SLOW[name] ?? ODD[name]?.[0]

export class HostileReceiver {
  readonly #sockets = new Set<Socket>()
  readonly #asked: Array<string> = []
  readonly #ended: Array<string> = []
  readonly #server: Server = createServer((socket) => {
    this.#follow(socket)
    let head = ""
    socket.on("data", (chunk) => {
      if (head.includes("\r\n\r\n")) return
      head += chunk.toString("latin1")
      if (head.includes("\r\n\r\n")) this.#asks(socket, decodeURIComponent(head.split(" ")[1]!.slice(1)))
    })
  })
  /** Sends its answer and reads nothing. */
  readonly #early: Server = createServer({ pauseOnConnect: true }, (socket) => {
    this.#follow(socket)
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nearly")
  })

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1")
    this.#early.listen(0, "127.0.0.1")
    await Promise.all([once(this.#server, "listening"), once(this.#early, "listening")])
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    this.#early.close()
  }

  /** The URL of a behaviour. */
  url(name: string): string {
    const { port } = (name === EARLY ? this.#early : this.#server).address() as AddressInfo
    return `http://127.0.0.1:${port}/${encodeURIComponent(name)}`
  }

  /** The number of requests to a behaviour. */
  asked(name: string): number {
    return this.#asked.filter((each) => each === name).length
  }

  /** The number of its connections that have ended. */
  ended(name: string): number {
    return this.#ended.filter((each) => each === name).length
  }

  #follow(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on("error", () => {}).once("close", () => this.#sockets.delete(socket))
  }

  #asks(socket: Socket, name: string): void {
    this.#asked.push(name)
    socket.once("close", () => this.#ended.push(name))
    behaviourOf(name)?.(socket)
  }
}
