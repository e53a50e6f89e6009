import { once } from "node:events"
/**
 * A connection pooler that works like PgBouncer in its mode `transaction`. It has few connections to Postgres and any
 * number of clients. It lends a connection for one transaction and keeps no state for a client between transactions. It
 * refuses unknown startup parameters.
 *
 * The first clients log in to Postgres through it. Their connections are then lent to all clients.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

const KNOWN_PARAMETERS = new Set(["user", "database", "client_encoding", "application_name"])
const SSL_REQUEST = 80_877_103
const TYPE_BYTES = 1
const LENGTH_BYTES = 4

/** Whether a first message asks for TLS. Such a message has only its length and a number. */
const isForTls = (frame: Buffer): boolean =>
  frame.length === 2 * LENGTH_BYTES && frame.readInt32BE(LENGTH_BYTES) === SSL_REQUEST

/** Cuts a stream into messages. The first message of a client has no type. */
class Frames {
  #rest = Buffer.alloc(0)
  #typeBytes: number

  constructor(hasType: boolean) {
    this.#typeBytes = hasType ? TYPE_BYTES : 0
  }

  push(data: Buffer): ReadonlyArray<Buffer> {
    this.#rest = Buffer.concat([this.#rest, data])
    const found: Array<Buffer> = []
    for (;;) {
      if (this.#rest.length < this.#typeBytes + LENGTH_BYTES) return found
      const size = this.#typeBytes + this.#rest.readInt32BE(this.#typeBytes)
      if (this.#rest.length < size) return found
      const frame = this.#rest.subarray(0, size)
      this.#rest = this.#rest.subarray(size)
      // After a request for TLS, the client sends another first message.
      if (!isForTls(frame)) this.#typeBytes = TYPE_BYTES
      found.push(frame)
    }
  }
}

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(TYPE_BYTES + LENGTH_BYTES)
  head.write(type)
  head.writeInt32BE(body.length + LENGTH_BYTES, TYPE_BYTES)
  return Buffer.concat([head, body])
}

const refusal = (text: string): Buffer => message("E", Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${text}\0\0`))

const READY = message("Z", Buffer.from("I"))
const AUTHENTICATED = message("R", Buffer.alloc(LENGTH_BYTES))
const NO_KEY = message("K", Buffer.alloc(2 * LENGTH_BYTES))

const typeOf = (frame: Buffer): string => String.fromCharCode(frame[0]!)

/** A connection to Postgres. */
interface Upstream {
  readonly socket: Socket
  client: PooledClient | undefined
}

class PooledClient {
  readonly socket: Socket
  upstream: Upstream | undefined
  /** Messages that wait for a connection. */
  readonly queue: Array<Buffer> = []
  /** The number of `ReadyForQuery` messages that are still expected. */
  open = 0

  constructor(socket: Socket) {
    this.socket = socket
  }
}

export class Pooler {
  readonly #target: URL
  readonly #size: number
  readonly #idle: Array<Upstream> = []
  readonly #waiting: Array<PooledClient> = []
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((socket) => this.#serve(socket))
  /** The parameters that Postgres sent to the first client. */
  readonly #parameters: Array<Buffer> = []
  #upstreams = 0
  /** How many times a connection was lent to a transaction. */
  lent = 0
  /** The number of clients so far. */
  clients = 0

  constructor(target: string, size: number) {
    this.#target = new URL(target)
    this.#size = size
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  get url(): string {
    const through = new URL(this.#target)
    through.port = String((this.#server.address() as AddressInfo).port)
    return through.href
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    // Without this, each small message waits until the last one is acknowledged.
    socket.setNoDelay(true)
    socket.on("error", () => {}).once("close", () => this.#sockets.delete(socket))
  }

  #serve(socket: Socket): void {
    this.#track(socket)
    const client = new PooledClient(socket)
    const frames = new Frames(false)
    let isStarted = false
    let login: Socket | undefined
    socket.on("data", (data) => {
      // During the login, messages are passed on unchanged.
      if (login !== undefined) {
        login.write(data)
        return
      }
      for (const frame of frames.push(data)) {
        if (isStarted) {
          this.#take(client, frame)
        } else if (isForTls(frame)) {
          socket.write("N")
        } else {
          isStarted = true
          login = this.#begin(client, frame, () => (login = undefined))
        }
      }
    })
    socket.once("close", () => this.#leave(client))
  }

  /** Handles the first message of a client. Opens another connection to Postgres if the pool has room for one. */
  #begin(client: PooledClient, startup: Buffer, done: () => void): Socket | undefined {
    const fields = startup
      .subarray(2 * LENGTH_BYTES)
      .toString()
      .split("\0")
    const unknown = fields.find(
      (field, index) => index % 2 === 0 && field !== "" && !KNOWN_PARAMETERS.has(field),
    )
    if (unknown !== undefined) {
      client.socket.end(refusal(`unsupported startup parameter: ${unknown}`))
      return undefined
    }
    this.clients++
    if (this.#upstreams === this.#size) {
      client.socket.write(Buffer.concat([AUTHENTICATED, ...this.#parameters, NO_KEY, READY]))
      return undefined
    }
    this.#upstreams++
    const socket = connect(Number(this.#target.port), this.#target.hostname)
    this.#track(socket)
    const upstream: Upstream = { socket, client }
    const frames = new Frames(true)
    let isLoggedIn = false
    socket.write(startup)
    socket.on("data", (data) => {
      for (const frame of frames.push(data)) {
        if (isLoggedIn) {
          this.#answer(upstream, frame)
          continue
        }
        client.socket.write(frame)
        if (typeOf(frame) === "S" && this.#upstreams === 1) this.#parameters.push(frame)
        if (typeOf(frame) !== "Z") continue
        isLoggedIn = true
        done()
        this.#release(upstream)
      }
    })
    socket.once("close", () => {
      this.#upstreams--
      upstream.client?.socket.destroy()
    })
    return socket
  }

  #take(client: PooledClient, frame: Buffer): void {
    const type = typeOf(frame)
    if (type === "X") {
      client.socket.end()
      return
    }
    if (type === "Q" || type === "S") client.open++
    if (client.upstream !== undefined) {
      client.upstream.socket.write(frame)
      return
    }
    if (client.queue.push(frame) === 1) this.#waiting.push(client)
    this.#lend()
  }

  #lend(): void {
    while (this.#idle.length > 0 && this.#waiting.length > 0) {
      const client = this.#waiting.shift()!
      const upstream = this.#idle.shift()!
      this.lent++
      client.upstream = upstream
      upstream.client = client
      upstream.socket.write(Buffer.concat(client.queue.splice(0)))
    }
  }

  #answer(upstream: Upstream, frame: Buffer): void {
    const { client } = upstream
    client?.socket.write(frame)
    if (typeOf(frame) !== "Z" || client === undefined) return
    client.open--
    const isOver = frame[TYPE_BYTES + LENGTH_BYTES] === "I".charCodeAt(0)
    if (isOver && client.open === 0) this.#release(upstream)
  }

  #release(upstream: Upstream): void {
    if (upstream.client !== undefined) upstream.client.upstream = undefined
    upstream.client = undefined
    this.#idle.push(upstream)
    this.#lend()
  }

  /** Ends the connection of a client that leaves in the middle of a transaction. */
  #leave(client: PooledClient): void {
    const at = this.#waiting.indexOf(client)
    if (at !== -1) this.#waiting.splice(at, 1)
    if (client.upstream !== undefined) client.upstream.socket.destroy()
  }
}
