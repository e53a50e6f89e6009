/**
 * One connection to a receiver, with undici speaking HTTP on it. It is made from a socket that is connected to a
 * checked address, and ends with it: undici can't connect again by itself.
 */
import type { Socket } from "node:net"
import { Client, type Dispatcher } from "undici"
import { InterimAnswers } from "./InterimAnswers.ts"

/** Largest section of headers that is read, in bytes of names and values. */
export const MAX_HEADER_BYTES = 16_384

/** undici asked for a second socket: the first has ended, and what is to be sent was not sent on it. */
class ConnectionEnded extends Error {
  override readonly name = "ConnectionEnded"
}

const clientOver = (socket: Socket, origin: string, idleMillis: number): Client => {
  let isTaken = false
  return new Client(origin, {
    connect: (_options, callback) => {
      // Later: undici sends nothing on a socket that it is given within its own call.
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
    // Attempts have a deadline of their own, over everything.
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
  /** Called when bytes have come, before they are read. While there is none, bytes end the connection. */
  onBytes: (() => void) | undefined

  /** `key` is the target's; an idle connection ends after `idleMillis`. */
  constructor(socket: Socket, key: string, origin: string, idleMillis: number) {
    this.key = key
    this.socket = socket
    this.#interim = new InterimAnswers(socket, MAX_HEADER_BYTES)
    this.#client = clientOver(socket, origin, idleMillis)
    socket.on("readable", () => {
      // An answer that nobody asked for would be taken for that of the next request.
      if (this.onBytes === undefined) this.destroy()
      else this.onBytes()
    })
  }

  /** Whether no request was sent on it yet. */
  get isFresh(): boolean {
    return this.#uses === 0
  }

  /** Whether a request was sent on it before: the receiver may have closed it by now. */
  get isReused(): boolean {
    return this.#uses > 1
  }

  get ageMillis(): number {
    return performance.now() - this.#openedAt
  }

  /** Whether another request can be sent: it is open, and nothing of the last request or its answer is left in it. */
  get isReusable(): boolean {
    const { socket } = this
    return socket.writable && socket.writableLength === 0 && socket.readableLength === 0
  }

  /**
   * Calls back when all is read that had come by now. After one turn of the event loop it may not be: when this one
   * has asked the system for news already, the next one asks again.
   */
  whenRead(then: () => void): void {
    setImmediate(() => void setImmediate(then))
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#uses++
    this.#interim.expect()
    this.#client.dispatch(options, handler)
  }

  /** Ends it at once, and with it the request that is under way. */
  destroy(): void {
    this.#client.destroy(null, () => {})
  }
}
