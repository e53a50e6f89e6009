import { EventEmitter, once } from "node:events"
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { text } from "node:stream/consumers"
/**
 * A receiver of webhooks on this machine that does what a test tells it, and remembers what it saw.
 */
import { verifySignature } from "billwright/verify"

/** A request that came in whole. */
export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** When its head came, in epoch milliseconds. */
  readonly at: number
  /** What was answered, whether or not anybody heard; `null`: nothing so far. */
  readonly status: number | null
}

/** A request that waits for its answer. */
export interface Exchange extends Received {
  readonly answer: (status: number, headers?: Readonly<Record<string, string>>) => void
}

/** What a path does with a request. Default: answers 204. */
export type Script = (exchange: Exchange, index: number) => void

export const answers =
  (...statuses: readonly [number, ...Array<number>]): Script =>
  (exchange, index) =>
    exchange.answer(statuses[Math.min(index, statuses.length - 1)]!)

/** Leaves requests without an answer: the test has them by `next`. */
export const holds: Script = () => {}

/** Whether a signature of one of the secrets is right, and fresh when it was received. */
export const isVerified = async (
  { at, body, headers }: Received,
  ...secrets: ReadonlyArray<string>
): Promise<boolean> => {
  const options = { headers, body, now: new Date(at), toleranceSeconds: 10 }
  const results = secrets.map((secret) =>
    verifySignature({ ...options, secret }).then(
      () => true,
      () => false,
    ),
  )
  return (await Promise.all(results)).includes(true)
}

export class Receiver {
  readonly #scripts = new Map<string, Script>()
  readonly #seen: Array<Exchange> = []
  readonly #news = new EventEmitter().setMaxListeners(0)
  readonly #sockets = new Set<Socket>()
  readonly #http = createHttpServer((request, response) => void this.#receive(request, response))
  readonly #stalled = new Set<string>()
  readonly #begun = new Map<string, number>()
  #server: Server | undefined
  #port = 0
  #isDeaf = false

  /** Listens; after a stop on the same port again. */
  async start(): Promise<void> {
    this.#server = createServer({ pauseOnConnect: true }, (socket) => {
      this.#sockets.add(socket)
      socket.on("error", () => {}).once("close", () => this.#sockets.delete(socket))
      this.#news.emit("connection")
      if (this.#isDeaf) return
      this.#http.emit("connection", socket)
      socket.resume()
    })
    this.#server.listen(this.#port, "127.0.0.1")
    await once(this.#server, "listening")
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Refuses connections from now on and ends those that there are. */
  async stop(): Promise<void> {
    const server = this.#server!
    const closed = once(server, "close")
    server.close()
    this.drop()
    await closed
  }

  /** Ends all connections. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.#port}${path}`
  }

  script(path: string, script: Script): void {
    this.#scripts.set(path, script)
  }

  /** Connections are taken and nothing is read of them. */
  set isDeaf(isDeaf: boolean) {
    this.#isDeaf = isDeaf
  }

  /** Reads the beginning of a body and no more. */
  stall(path: string, isStalled: boolean): void {
    if (isStalled) this.#stalled.add(path)
    else this.#stalled.delete(path)
  }

  /** Waits for a connection, or for a body that is stalled. */
  async until(what: "connection" | "stalled"): Promise<void> {
    await once(this.#news, what)
  }

  /** What was received, of one path or of all. */
  received(path?: string): ReadonlyArray<Exchange> {
    return this.#seen.filter((request) => path === undefined || request.path === path)
  }

  /** How many requests began to come to a path, whole or not. */
  begun(path: string): number {
    return this.#begun.get(path) ?? 0
  }

  /** Waits until so many requests came to a path in all; gives the last of them. */
  async next(path: string, count: number): Promise<Exchange> {
    while (this.received(path).length < count) await once(this.#news, "received")
    return this.received(path)[count - 1]!
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now()
    const path = request.url ?? ""
    response.on("error", () => {})
    this.#begun.set(path, this.begun(path) + 1)
    if (this.#stalled.has(path)) {
      request.once("data", () => {
        request.pause()
        this.#news.emit("stalled")
      })
      return
    }
    const body = await text(request).catch(() => undefined)
    if (body === undefined) return
    const index = this.received(path).length
    const exchange = {
      path,
      headers: request.headers as Record<string, string>,
      body,
      at,
      status: null as number | null,
      answer: (status: number, headers: Readonly<Record<string, string>> = {}) => {
        exchange.status = status
        response.writeHead(status, headers).end()
      },
    }
    this.#seen.push(exchange)
    const script = this.#scripts.get(path) ?? answers(204)
    script(exchange, index)
    this.#news.emit("received")
  }
}
