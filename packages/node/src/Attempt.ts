/**
 * One request to a receiver. A single deadline covers everything from waiting for a connection to reading the last
 * byte.
 */
import {
  MAX_KEPT_RESPONSE_BYTES,
  MAX_RESPONSE_BYTES,
  type TransportError,
  type WebhookRequest,
  type WebhookResponse,
} from "@billwright/core"
import type { Dispatcher } from "undici"
import { type Connection, MAX_HEADER_BYTES } from "./Connection.ts"
import type { ConnectionPool } from "./ConnectionPool.ts"
import * as ReceivedText from "./ReceivedText.ts"
import * as ReceiverError from "./ReceiverError.ts"
import type { Cancel } from "./Sockets.ts"
import type { Target } from "./Target.ts"

/**
 * The most bytes that are read from a connection for one answer. All bytes count: interim answers, headers, and the
 * framing of chunks. A chunk with one byte of the body takes six bytes.
 */
const MAX_WIRE_BYTES = 2 * MAX_HEADER_BYTES + 7 * MAX_RESPONSE_BYTES

/** Headers that the transport sends itself, or that would change how the message is read. */
const OWN_HEADERS = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

const headersOf = ({ headers }: WebhookRequest): Array<string> => [
  // A compressed body can be a thousand times as long when it is unpacked, so compression is not accepted.
  "accept-encoding",
  "identity",
  ...Object.entries(headers)
    .filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()))
    .flat(),
]

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

export class Attempt implements Dispatcher.DispatchHandler {
  readonly #pool: ConnectionPool
  readonly #target: Target
  readonly #request: WebhookRequest
  readonly #done: (response: WebhookResponse) => void
  readonly #timer: NodeJS.Timeout
  #cancelAcquire: Cancel = () => {}
  #connection: Connection | undefined
  #isSent = false
  #isSettled = false
  #head: Head | undefined
  readonly #kept: Array<Uint8Array> = []
  #bodyLength = 0

  /** Starts the attempt. `done` is called once, unless the attempt is cancelled. */
  constructor(
    pool: ConnectionPool,
    target: Target,
    request: WebhookRequest,
    deadlineMillis: number,
    done: (response: WebhookResponse) => void,
  ) {
    this.#pool = pool
    this.#target = target
    this.#request = request
    this.#done = done
    this.#timer = setTimeout(() => this.#fail("timeout"), deadlineMillis)
    this.#acquire()
  }

  /** Ends the attempt and its connection. */
  cancel(): void {
    this.#finish()
  }

  #acquire(): void {
    this.#cancelAcquire = this.#pool.acquire(this.#target, (given) => {
      if (typeof given === "string") this.#fail(given)
      else if (given.isFresh) this.#send(given)
      else this.#sendOnKept(given)
    })
  }

  /** Sends on a reused connection, after checking that no bytes have arrived on it since its last answer. */
  #sendOnKept(connection: Connection): void {
    this.#connection = connection
    connection.whenRead(() => {
      if (this.#isSettled) return
      if (connection.isReusable) this.#send(connection)
      else {
        this.#discard()
        this.#acquire()
      }
    })
  }

  #send(connection: Connection): void {
    this.#connection = connection
    const bytesBefore = connection.socket.bytesRead
    connection.onBytes = () => {
      if (connection.socket.bytesRead - bytesBefore > MAX_WIRE_BYTES) this.#cut()
    }
    connection.dispatch(
      {
        path: this.#target.path,
        method: this.#request.method ?? "POST",
        headers: headersOf(this.#request),
        body: Buffer.from(this.#request.body),
      },
      this,
    )
  }

  onRequestStart(): void {
    this.#isSent = true
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | Array<string> | undefined>,
  ): void {
    if (status < 100 || status > 599) this.#fail("bad_response")
    // Interim answers (1xx) are ignored.
    else if (status >= 200) this.#head = { status, headers: ReceivedText.fromHeaders(headers) }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // Keeps one more byte than the limit, which shows that the body was cut.
    const room = MAX_KEPT_RESPONSE_BYTES + 1 - this.#bodyLength
    if (room > 0) this.#kept.push(chunk.subarray(0, room))
    this.#bodyLength += chunk.length
    if (this.#bodyLength > MAX_RESPONSE_BYTES) this.#cut()
  }

  onResponseEnd(): void {
    if (this.#isSettled) return
    const connection = this.#connection
    this.#connection = undefined
    this.#finish()
    // A microtask runs after undici has closed the connection (if it does), and before the caller gets the answer. So
    // the caller can send its next request on this connection.
    queueMicrotask(() => {
      if (connection !== undefined) this.#pool.release(connection)
      this.#answer()
    })
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isSettled) return
    const isStale = !this.#isSent && this.#connection?.isReused && !ReceiverError.isUnsendable(error)
    // Only a request that can't have been received is sent again: its connection had ended before it was sent.
    if (isStale) {
      this.#discard()
      this.#acquire()
    } else this.#fail(ReceiverError.ofExchange(error, this.#head !== undefined))
  }

  /** Stops reading. With a status the attempt is answered, without one it is a bad response. */
  #cut(): void {
    if (this.#isSettled) return
    if (this.#head === undefined) this.#fail("bad_response")
    else {
      this.#finish()
      this.#answer()
    }
  }

  #answer(): void {
    if (this.#head !== undefined) {
      this.#done({ _tag: "Answered", ...this.#head, body: ReceivedText.fromBody(this.#kept) })
    }
  }

  #fail(error: TransportError): void {
    if (this.#isSettled) return
    this.#finish()
    this.#done({ _tag: "Failed", error })
  }

  #finish(): void {
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#cancelAcquire()
    this.#discard()
  }

  #discard(): void {
    const connection = this.#connection
    if (connection === undefined) return
    this.#connection = undefined
    connection.onBytes = undefined
    connection.destroy()
  }
}
