import { EventEmitter, once } from "node:events"
/**
 * A TCP proxy that a test scripts. In front of Postgres it makes faults of the network between Postgres and our
 * processes. In front of the API it makes faults between the API and its clients.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"

/** Decides for a piece of data whether to cut the connection before forwarding it. */
export type Cut = (data: Buffer) => boolean

export const never: Cut = () => false

/** The field of the SQLSTATE in an error message of Postgres: `C`, five characters, and NUL. */
const SQLSTATE = /\0C([0-9A-Z]{5})\0M/g

export class Proxy {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  readonly #news = new EventEmitter().setMaxListeners(0)
  readonly #states = new Map<string, number>()
  readonly #server: Server
  /** Applied to requests of clients, and to answers. */
  cutsRequest: Cut = never
  cutsAnswer: Cut = never
  /** The number of connections that were cut. */
  cuts = 0
  /** The number of connections so far. */
  opened = 0
  /** Whether new connections are accepted. */
  isOpen = true
  /** While true, nothing is forwarded and nothing is closed. */
  isBlackhole = false

  constructor(target: string) {
    this.#target = new URL(target)
    this.#server = createServer((client) => this.#serve(client))
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
  }

  stop(): void {
    this.drop()
    this.#server.close()
  }

  /** Ends all connections. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** The URL of the target through the proxy. */
  get url(): string {
    const through = new URL(this.#target)
    through.hostname = "127.0.0.1"
    through.port = String((this.#server.address() as AddressInfo).port)
    // Parsing adds a path to a URL without one.
    return through.href.replace(/\/$/, "")
  }

  /** How many times Postgres answered with an SQLSTATE. */
  seen(state: string): number {
    return this.#states.get(state) ?? 0
  }

  /** Waits until Postgres has answered with an SQLSTATE this many times. */
  async until(state: string, times = 1): Promise<void> {
    while (this.seen(state) < times) await once(this.#news, "error answer")
  }

  #serve(client: Socket): void {
    if (!this.isOpen) {
      client.destroy()
      return
    }
    this.opened++
    const upstream = connect(Number(this.#target.port), this.#target.hostname)
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket)
      socket.setNoDelay(true)
      socket
        .on("error", () => {})
        .once("close", () => {
          this.#sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
    }
    client.on("data", (data) => {
      if (this.isBlackhole) return
      if (this.cutsRequest(data)) this.#cut(client)
      else upstream.write(data)
    })
    upstream.on("data", (data) => {
      if (this.isBlackhole) return
      this.#note(data)
      if (this.cutsAnswer(data)) this.#cut(client)
      else client.write(data)
    })
  }

  #cut(client: Socket): void {
    this.cuts++
    client.destroy()
  }

  #note(data: Buffer): void {
    for (const [, state] of data.toString("latin1").matchAll(SQLSTATE)) {
      this.#states.set(state!, this.seen(state!) + 1)
      this.#news.emit("error answer")
    }
  }
}
