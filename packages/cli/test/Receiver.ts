import { EventEmitter, once } from "node:events"
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { text } from "node:stream/consumers"
/**
 * A receiver of webhooks on this machine. A test scripts its answers and reads its requests.
 */
import { verifySignature } from "billwright/verify"

/** A complete request. */
export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** When its headers arrived, in epoch milliseconds. */
  readonly at: number
  /** The status of the answer, even if the sender did not get it. `null` before there is an answer. */
  readonly status: number | null
}

/** A request that waits for its answer. */
export interface Exchange extends Received {
  readonly answer: (status: number, headers?: Readonly<Record<string, string>>) => void
}

/** How a path answers a request. Default: 204. */
export type Script = (exchange: Exchange, index: number) => void

export const answers =
  (...statuses: readonly [number, ...Array<number>]): Script =>
  (exchange, index) =>
    exchange.answer(statuses[Math.min(index, statuses.length - 1)]!)

/** Leaves requests unanswered. The test gets them by `next` and answers them. */
export const holds: Script = () => {}

/** Whether the request has a valid signature of one of the secrets, which was fresh when it arrived. */
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

  /** Listens. After a stop, on the same port as before. */
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

  /** Refuses new connections and ends the open ones. */
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

  /** Accepts connections and reads nothing. */
  set isDeaf(isDeaf: boolean) {
    this.#isDeaf = isDeaf
  }

  /** Reads the beginning of a body and no more. */
  stall(path: string, isStalled: boolean): void {
    if (isStalled) this.#stalled.add(path)
    else this.#stalled.delete(path)
  }

  /** Waits for a stalled connection or body. */
  async until(what: "connection" | "stalled"): Promise<void> {
    await once(this.#news, what)
  }

  /** The requests to one path or to all paths. */
  received(path?: string): ReadonlyArray<Exchange> {
    return this.#seen.filter((request) => path === undefined || request.path === path)
  }

  /** The number of requests to a path, including incomplete ones. */
  begun(path: string): number {
    return this.#begun.get(path) ?? 0
  }

  /** Waits until a path has had this many requests in total. Returns the last of them. */
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
