/**
 * One connection to a receiver, with undici for HTTP. It uses one socket that is connected to a checked address, and it
 * ends with this socket: undici can't connect again by itself.
 */
import type { Socket } from "node:net"
import { Client, type Dispatcher } from "undici"
import { InterimAnswers } from "./InterimAnswers.ts"

/** The most bytes of header names and values that are read for one answer. */
export const MAX_HEADER_BYTES = 16_384

/** The socket has ended, and undici asked for another one. The request was not sent. */
class ConnectionEnded extends Error {
  override readonly name = "ConnectionEnded"
}

const clientOver = (socket: Socket, origin: string, idleMillis: number): Client => {
  let isTaken = false
  return new Client(origin, {
    connect: (_options, callback) => {
      // Called later, because undici doesn't send on a socket that it gets during its own call.
      queueMicrotask(() => {
        if (isTaken) callback(new ConnectionEnded("the connection has ended"), null)
        else callback(null, socket)
        isTaken = true
      })
    },
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: idleMillis,
    keepAliveMaxTimeout: idleMillis,
    // An attempt has one deadline for everything.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

export class Connection {
  readonly key: string
  readonly socket: Socket
  readonly #client: Client
  readonly #interim: InterimAnswers
  readonly #openedAt = performance.now()
  #uses = 0
  /** Called when bytes have arrived, before they are read. While it is not set, arriving bytes end the connection. */
  onBytes: (() => void) | undefined

  /** `key` is the key of the target. An idle connection ends after `idleMillis`. */
  constructor(socket: Socket, key: string, origin: string, idleMillis: number) {
    this.key = key
    this.socket = socket
    this.#interim = new InterimAnswers(socket, MAX_HEADER_BYTES)
    this.#client = clientOver(socket, origin, idleMillis)
    socket.on("readable", () => {
      // An answer without a request would be taken for the answer to the next request.
      if (this.onBytes === undefined) this.destroy()
      else this.onBytes()
    })
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

  /** Whether another request can be sent: it is open, and its buffers are empty. */
  get isReusable(): boolean {
    const { socket } = this
    return socket.writable && socket.writableLength === 0 && socket.readableLength === 0
  }

  /**
   * Calls back when all bytes that have arrived until now are read. It waits for two turns of the event loop, because
   * the current turn may already have polled the system.
   */
  whenRead(then: () => void): void {
    setImmediate(() => void setImmediate(then))
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#uses++
    this.#interim.expect()
    this.#client.dispatch(options, handler)
  }

  /** Ends the connection and its running request at once. */
  destroy(): void {
    this.#client.destroy(null, () => {})
  }
}
