/**
 * One connection to a receiver. It uses one socket that is connected to a checked address, and it ends with this socket.
 *
 * It writes requests and reads ordinary answers itself, because that costs much less than undici does. When an answer
 * begins with anything but a complete ordinary head, undici takes over for the rest of the connection: decision 0046.
 */
import type { Socket } from "node:net"
import { MAX_RESPONSE_BYTES } from "@billwright/core"
import type { Exchange } from "./Exchange.ts"
import * as PlainAnswer from "./PlainAnswer.ts"
import * as SentRequest from "./SentRequest.ts"
import { UndiciConnection } from "./UndiciConnection.ts"

/**
 * The most bytes that are read from a connection for one answer. All bytes count: interim answers, headers, and the
 * framing of chunks. A chunk with one byte of the body takes six bytes.
 */
const MAX_WIRE_BYTES = 2 * PlainAnswer.MAX_HEADER_BYTES + 7 * MAX_RESPONSE_BYTES

/** An idle connection ends this long before the receiver says that it would close it. The same as undici's. */
const KEEP_ALIVE_MARGIN_MILLIS = 2_000

class ConnectionEnded extends Error {
  override readonly name = "ConnectionEnded"
}

/** A request whose answer is being read here. */
interface Plain {
  readonly request: SentRequest.SentRequest
  /** How much of the body is missing, or `undefined` before the head. */
  missing: number | undefined
}

export class Connection {
  readonly key: string
  readonly #socket: Socket
  readonly #origin: string
  readonly #maxIdleMillis: number
  readonly #openedAt = performance.now()
  #uses = 0
  #exchange: Exchange | undefined
  #plain: Plain | undefined
  #undici: UndiciConnection | undefined
  /** The bytes that have come since the current request was sent. */
  #bytesRead = 0
  #error: Error | undefined
  #isLast = false
  #idleMillis: number
  #idleTimer: NodeJS.Timeout | undefined
  #isIdle = false

  /** `key` is the key of the target. An idle connection ends after `maxIdleMillis`. */
  constructor(socket: Socket, key: string, origin: string, maxIdleMillis: number) {
    this.key = key
    this.#socket = socket
    this.#origin = origin
    this.#maxIdleMillis = maxIdleMillis
    this.#idleMillis = maxIdleMillis
    // Only running requests keep the process running, by the timers of their deadlines.
    socket.unref()
    socket
      .on("data", (bytes: Buffer) => this.#read(bytes))
      .on("end", () => this.#ended())
      .on("error", (error) => {
        this.#error ??= error
      })
      .on("close", () => this.#closed())
  }

  /** Whether no request has been sent on it yet. */
  get isFresh(): boolean {
    return this.#uses === 0
  }

  /** Whether a request was sent on it before the current one. The receiver may have closed it since. */
  get isReused(): boolean {
    return this.#uses > 1
  }

  get ageMillis(): number {
    return performance.now() - this.#openedAt
  }

  /** Whether another request can be sent: it is open, it will stay open, and the last request was sent completely. */
  get isReusable(): boolean {
    const { writable, writableLength } = this.#socket
    return writable && writableLength === 0 && !this.#isLast
  }

  /** Calls back once, when the connection has ended. */
  whenClosed(then: () => void): void {
    this.#socket.once("close", then)
  }

  /**
   * Calls back when all that had arrived on this machine before the call is read: the end of the connection, or bytes that
   * nobody asked for. `isReusable` is false then. It waits for two turns of the event loop, because the current turn may
   * already have polled the system. What arrives later can't be told from an answer.
   */
  whenRead(then: () => void): void {
    setImmediate(() => void setImmediate(then))
  }

  /** Sends a request. The exchange is told of all that follows. */
  send(request: SentRequest.SentRequest, exchange: Exchange): void {
    this.#uses++
    this.#bytesRead = 0
    this.#isIdle = false
    this.#exchange = exchange
    if (this.#undici !== undefined) this.#undici.send(request, exchange)
    else if (this.#socket.writable) {
      exchange.onSent()
      this.#plain = { request, missing: undefined }
      this.#socket.write(SentRequest.encode(request))
    } else exchange.onError(new ConnectionEnded("the connection has ended"))
  }

  /** The exchange is over. While there is none, arriving bytes end the connection. */
  release(): void {
    this.#exchange = undefined
    this.#plain = undefined
  }

  /** Waits for the next request, but not for long. */
  rest(): void {
    this.#isIdle = true
    if (this.#idleTimer !== undefined) this.#idleTimer.refresh()
    else {
      this.#idleTimer = setTimeout(() => {
        if (this.#isIdle) this.destroy()
      }, this.#idleMillis).unref()
    }
  }

  /** Ends the connection and its running request at once. */
  destroy(): void {
    this.#undici?.destroy()
    this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    const exchange = this.#exchange
    // An answer without a request would be taken for the answer to the next request.
    if (exchange === undefined) {
      this.destroy()
      return
    }
    this.#bytesRead += bytes.length
    if (this.#bytesRead > MAX_WIRE_BYTES) exchange.onFlood()
    else if (this.#undici !== undefined) this.#undici.receive(bytes)
    else if (this.#plain !== undefined) this.#readPlain(bytes, this.#plain, exchange)
  }

  #readPlain(bytes: Buffer, plain: Plain, exchange: Exchange): void {
    if (plain.missing !== undefined) {
      this.#readBody(bytes, plain, plain.missing, exchange)
      return
    }
    const head = PlainAnswer.readHead(bytes)
    if (head === undefined) {
      this.#undici = new UndiciConnection(this.#socket, this.#origin, this.#maxIdleMillis)
      this.#undici.takeOver(plain.request, exchange, bytes)
      return
    }
    this.#keepAlive(head)
    exchange.onHead(head.status, head.headers)
    this.#readBody(bytes.subarray(head.bodyAt), plain, head.bodyLength, exchange)
  }

  #readBody(bytes: Buffer, plain: Plain, missing: number, exchange: Exchange): void {
    const part = bytes.subarray(0, missing)
    plain.missing = missing - part.length
    if (part.length > 0) exchange.onBody(part)
    if (plain.missing > 0) return
    // More bytes are an answer that nobody asked for.
    if (bytes.length > part.length) this.#isLast = true
    exchange.onEnd()
  }

  #keepAlive({ isLast, keepAliveSeconds }: PlainAnswer.PlainHead): void {
    const promised =
      keepAliveSeconds === undefined ? Infinity : keepAliveSeconds * 1_000 - KEEP_ALIVE_MARGIN_MILLIS
    this.#isLast = isLast || promised <= 0
    const idleMillis = Math.min(promised, this.#maxIdleMillis)
    if (idleMillis === this.#idleMillis) return
    this.#idleMillis = idleMillis
    clearTimeout(this.#idleTimer)
    this.#idleTimer = undefined
  }

  #ended(): void {
    // undici decides whether the answer ends with the connection.
    if (this.#undici === undefined) this.#socket.destroy()
  }

  #closed(): void {
    clearTimeout(this.#idleTimer)
    if (this.#undici === undefined) {
      this.#exchange?.onError(this.#error ?? new ConnectionEnded("the connection has ended"))
    }
  }
}
