/**
 * undici over a connection whose receiver gave an answer that is not ordinary. That answer and all later ones are read by
 * undici, and all later requests are written by it.
 */
import type { Socket } from "node:net"
import { Duplex } from "node:stream"
import { Client, type Dispatcher } from "undici"
import type { Exchange } from "./Exchange.ts"
import { InterimAnswers } from "./InterimAnswers.ts"
import { MAX_HEADER_BYTES } from "./PlainAnswer.ts"
import * as ReceivedText from "./ReceivedText.ts"
import type { SentRequest } from "./SentRequest.ts"

/** The socket has ended, and undici asked for another one. The request was not sent. */
class ConnectionEnded extends Error {
  override readonly name = "ConnectionEnded"
}

interface Written {
  readonly chunk: Buffer
}

/**
 * What undici has instead of the socket. The first request was already sent, so what undici writes of it is thrown away.
 * The bytes that have come are held back until then, because undici would take them for an answer without a request.
 */
class Front extends Duplex {
  readonly #socket: Socket
  /** What has come before undici wrote the first request. `null` is the end. */
  #held: Array<Buffer | null> | undefined = []
  #isFirst = true

  constructor(socket: Socket) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    // undici listens later.
    this.on("error", () => {})
    socket
      .on("end", () => this.receive(null))
      .on("error", (error) => this.destroy(error))
      .on("close", () => this.destroy())
  }

  /** Gives undici what has come on the socket. */
  receive(bytes: Buffer | null): void {
    if (this.#held === undefined) this.push(bytes)
    else this.#held.push(bytes)
  }

  /** From now on, what undici writes is sent. */
  endFirst(): void {
    this.#isFirst = false
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#isFirst) this.#swallow(done)
    else this.#socket.write(chunk, done)
  }

  override _writev(written: ReadonlyArray<Written>, done: (error?: Error | null) => void): void {
    if (this.#isFirst) {
      this.#swallow(done)
      return
    }
    this.#socket.cork()
    written.forEach(({ chunk }, index) =>
      this.#socket.write(chunk, index === written.length - 1 ? done : undefined),
    )
    this.#socket.uncork()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  #swallow(done: () => void): void {
    done()
    // A microtask runs after undici has written all of it.
    queueMicrotask(() => {
      const held = this.#held ?? []
      this.#held = undefined
      for (const bytes of held) this.push(bytes)
    })
  }
}

const clientOver = (front: Front, origin: string, idleMillis: number): Client => {
  let isTaken = false
  return new Client(origin, {
    connect: (_options, callback) => {
      // Called later, because undici doesn't send on a socket that it gets during its own call.
      queueMicrotask(() => {
        if (isTaken) callback(new ConnectionEnded("the connection has ended"), null)
        // undici needs nothing of a socket that a `Duplex` doesn't have.
        else callback(null, front as Duplex as Socket)
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

const handlerOf = (exchange: Exchange): Dispatcher.DispatchHandler => ({
  onRequestStart: () => exchange.onSent(),
  onResponseStart: (_controller, status, headers) =>
    exchange.onHead(status, ReceivedText.fromHeaders(headers)),
  onResponseData: (_controller, bytes) => exchange.onBody(bytes),
  onResponseEnd: () => exchange.onEnd(),
  onResponseError: (_controller, error) => exchange.onError(error),
})

export class UndiciConnection {
  readonly #client: Client
  readonly #front: Front
  readonly #interim: InterimAnswers

  /** An idle connection ends after `idleMillis`. */
  constructor(socket: Socket, origin: string, idleMillis: number) {
    this.#front = new Front(socket)
    this.#interim = new InterimAnswers(this.#front, MAX_HEADER_BYTES)
    this.#client = clientOver(this.#front, origin, idleMillis)
  }

  /** Reads the answer to a request that was already sent, and of whose answer `bytes` have come. */
  takeOver(request: SentRequest, exchange: Exchange, bytes: Buffer): void {
    this.#front.receive(bytes)
    this.#dispatch(request, exchange)
  }

  /** Gives undici bytes that have come. */
  receive(bytes: Buffer): void {
    this.#front.receive(bytes)
  }

  send(request: SentRequest, exchange: Exchange): void {
    this.#front.endFirst()
    this.#dispatch(request, exchange)
  }

  destroy(): void {
    this.#client.destroy(null, () => {})
  }

  #dispatch({ body, headers, method, path }: SentRequest, exchange: Exchange): void {
    this.#interim.expect()
    this.#client.dispatch(
      { path, method, headers: [...headers], body: Buffer.from(body) },
      handlerOf(exchange),
    )
  }
}
