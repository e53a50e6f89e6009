/**
 * Interim answers (1xx) that come before the answer proper. undici takes a `100 Continue` that it did not ask for as
 * a broken answer; RFC 9110 §15.2 wants clients to read over it, and proxies send it.
 */
import type { Socket } from "node:net"

/** The beginning of an interim answer. `101 Switching Protocols` is none: what follows it is no HTTP. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d/
/** How many bytes tell whether one begins. */
const STATUS_LENGTH = "HTTP/1.1 100".length
const END_OF_HEAD = "\r\n\r\n"

/** Takes the interim answers out of what is read from a socket. */
export class InterimAnswers {
  readonly #maxHeadBytes: number
  #isExpected = false
  #pending: Buffer = Buffer.alloc(0)

  /** From now on the socket's reader sees no interim answers. A head that is longer than `maxHeadBytes` it does. */
  constructor(socket: Socket, maxHeadBytes: number) {
    this.#maxHeadBytes = maxHeadBytes
    const read = socket.read.bind(socket)
    socket.read = (size?: number): Buffer | null => {
      for (;;) {
        const chunk = read(size) as Buffer | null
        if (chunk === null) return null
        const rest = this.#isExpected ? this.#strip(chunk) : chunk
        if (rest.length > 0) return rest
      }
    }
  }

  /** A request is sent: what comes next is the beginning of its answer. */
  expect(): void {
    this.#isExpected = true
    this.#pending = Buffer.alloc(0)
  }

  /** What is left for the reader of a chunk. What may yet turn out to be interim waits for the next one. */
  #strip(chunk: Buffer): Buffer {
    let bytes = Buffer.concat([this.#pending, chunk])
    while (bytes.length >= STATUS_LENGTH && INTERIM.test(bytes.toString("latin1", 0, STATUS_LENGTH))) {
      const end = bytes.indexOf(END_OF_HEAD)
      if (end === -1) break
      bytes = bytes.subarray(end + END_OF_HEAD.length)
    }
    const isOpen = bytes.length < STATUS_LENGTH || INTERIM.test(bytes.toString("latin1", 0, STATUS_LENGTH))
    if (isOpen && bytes.length <= this.#maxHeadBytes) {
      this.#pending = bytes
      return Buffer.alloc(0)
    }
    this.#isExpected = false
    this.#pending = Buffer.alloc(0)
    return bytes
  }
}
