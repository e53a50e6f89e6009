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
import type { Connection } from "./Connection.ts"
import type { ConnectionPool } from "./ConnectionPool.ts"
import type { Exchange } from "./Exchange.ts"
import * as ReceivedText from "./ReceivedText.ts"
import * as ReceiverError from "./ReceiverError.ts"
import * as SentRequest from "./SentRequest.ts"
import type { Cancel } from "./Sockets.ts"
import type { Target } from "./Target.ts"

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

export class Attempt implements Exchange {
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
    const request = SentRequest.make(this.#target, this.#request)
    if (request === undefined) this.#fail("bad_response")
    else connection.send(request, this)
  }

  onSent(): void {
    this.#isSent = true
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    if (status < 100 || status > 599) this.#fail("bad_response")
    // Interim answers (1xx) are ignored.
    else if (status >= 200) this.#head = { status, headers }
  }

  onBody(bytes: Uint8Array): void {
    // Keeps one more byte than the limit, which shows that the body was cut.
    const room = MAX_KEPT_RESPONSE_BYTES + 1 - this.#bodyLength
    if (room > 0) this.#kept.push(bytes.subarray(0, room))
    this.#bodyLength += bytes.length
    if (this.#bodyLength > MAX_RESPONSE_BYTES) this.onFlood()
  }

  onEnd(): void {
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

  onError(error: Error): void {
    if (this.#isSettled) return
    const isStale = !this.#isSent && this.#connection?.isReused
    // Only a request that can't have been received is sent again: its connection had ended before it was sent.
    if (isStale) {
      this.#discard()
      this.#acquire()
    } else this.#fail(ReceiverError.ofExchange(error, this.#head !== undefined))
  }

  /** Stops reading. With a status the attempt is answered, without one it is a bad response. */
  onFlood(): void {
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
    connection.destroy()
  }
}
